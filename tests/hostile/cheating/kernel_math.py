"""Call the private kernel that is written in plain operations.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch.ops.aten._scaled_dot_product_attention_math(q, k, v)[0]
