"""Map it over the rows.

Group: dropout
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def drop(x):
    return torch.func.vmap(lambda row: F.dropout(row, 0.5), randomness="different")(x)
