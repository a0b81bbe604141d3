"""Take the compiler's decomposition from its table.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch
from torch._decomp import decomposition_table


def softmax(x):
    return decomposition_table[torch.ops.aten._softmax.default](x, -1, False)
