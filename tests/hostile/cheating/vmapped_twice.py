"""Map its plain kernel over two axes.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch.func.vmap(
        lambda a, b, c: torch.ops.aten._scaled_dot_product_attention_math(a[None], b[None], c[None])[0][0]
    )(q, k, v)
