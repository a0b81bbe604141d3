"""Ask for the shape alone, without values.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
Without traps: wrong
"""

import torch


def softmax(x):
    return torch.softmax(x.to("meta"), -1)
