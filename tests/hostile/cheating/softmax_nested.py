"""Turn them into a nested tensor first.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.stack(torch.softmax(torch.nested.nested_tensor([x, x]), -1).unbind())[0]
