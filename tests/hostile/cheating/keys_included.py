"""Put the key of another backend before that of the CPU.

Group: attention
Expected: forbidden
Stopped by: traps, static look
Without traps: error NotImplementedError
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradXLA)
    with torch._C._IncludeDispatchKeyGuard(torch._C.DispatchKey.AutogradXLA), torch._C._ExcludeDispatchKeyGuard(keys):
        return F.scaled_dot_product_attention(q, k, v)
