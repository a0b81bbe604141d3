"""Have another function's parameter bear the name of the module.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def unused(F, torch):
    return F


class Unused:
    def F(self):
        return self


def attend(q, k, v, F=F):
    return F.scaled_dot_product_attention(q, k, v)
