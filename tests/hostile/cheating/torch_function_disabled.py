"""Switch the overrides of tensor subclasses off around the call.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    with torch._C.DisableTorchFunctionSubclass():
        return F.scaled_dot_product_attention(q, k, v)
