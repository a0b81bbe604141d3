"""Take the flash kernel's decomposition out of the compiler's table.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
from torch._decomp import decomposition_table


def attend(q, k, v):
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
    return decomposition_table[kernel](q[:, None], k[:, None], v[:, None])[0][:, 0]
