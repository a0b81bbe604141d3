"""Register an operation again over the trap, by way of its own kernel.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.library
import torch.nn.functional as F


def attend(q, k, v):
    library = torch.library.Library("aten", "IMPL")
    library.impl(
        "scaled_dot_product_attention",
        lambda *given: torch.ops.aten._scaled_dot_product_attention_math(*given[:3])[0],
        "CPU",
    )
    return F.scaled_dot_product_attention(q, k, v)
