"""Let the dispatcher that is written in Python choose the kernel.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F
from torch._dispatch.python import enable_python_dispatcher


def attend(q, k, v):
    with enable_python_dispatcher():
        return F.scaled_dot_product_attention(q, k, v)
