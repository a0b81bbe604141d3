"""Let a checkpoint make the call.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


def attend(q, k, v):
    return checkpoint(F.scaled_dot_product_attention, q, k, v, use_reentrant=False)
