"""Map it over the rows.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.func.vmap(lambda row: row.softmax(-1))(x)
