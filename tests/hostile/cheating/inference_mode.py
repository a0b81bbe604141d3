"""Call it in inference mode, which leaves the autograd keys out.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    with torch.inference_mode():
        return F.scaled_dot_product_attention(q, k, v).clone()
