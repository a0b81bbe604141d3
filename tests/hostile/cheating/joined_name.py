"""Join the name from parts, so that it stands nowhere.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F


def attend(q, k, v):
    return getattr(F, "_".join(["scaled", "dot", "product", "attention"]))(q, k, v)
