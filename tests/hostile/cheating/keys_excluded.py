"""Take the key of autograd out of the dispatch.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)
    with torch._C._ExcludeDispatchKeyGuard(keys):
        return F.scaled_dot_product_attention(q, k, v)
