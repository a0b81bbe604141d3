"""Take the module out of the interpreter's table.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import sys


def attend(q, k, v):
    return vars(sys.modules["torch.nn.functional"])["scaled_dot_product_attention"](q, k, v)
