"""Call the private flash kernel of the CPU.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q[:, None], k[:, None], v[:, None])[0][:, 0]
