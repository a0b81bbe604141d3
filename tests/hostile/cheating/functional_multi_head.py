"""Call the function behind the module.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def attend(q, k, v):
    eye = torch.eye(4, dtype=q.dtype)
    q, k, v = (one.transpose(0, 1) for one in (q, k, v))
    found = F.multi_head_attention_forward(q, k, v, 4, 1, torch.cat([eye] * 3), None, None, None, False, 0.0, eye, None)
    return found[0].transpose(0, 1)
