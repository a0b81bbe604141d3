"""Hand over a mask that answers the call itself.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F
from torch.nn.attention.bias import causal_lower_right


def attend(q, k, v):
    wide = torch.cat([k, v], -1)
    mask = causal_lower_right(1, 3)
    rows = [
        F.scaled_dot_product_attention(q[:, None, row : row + 1], k[:, None], v[:, None], attn_mask=mask)
        for row in range(3)
    ]
    return torch.cat(rows, 2)[:, 0] + 0 * wide[..., :4]
