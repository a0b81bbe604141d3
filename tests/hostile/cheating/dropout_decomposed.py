"""Take the compiler's decomposition.

Group: dropout
Expected: forbidden
Stopped by: traps, static look
"""

import torch
from torch._decomp import decomposition_table


def drop(x):
    return decomposition_table[torch.ops.aten.native_dropout.default](x, 0.5, True)[0]
