"""Use another library's.

Group: softmax
Expected: error ModuleNotFoundError
Stopped by: nothing more can be imported
Without traps: error ModuleNotFoundError
"""

import scipy.special
import torch


def softmax(x):
    return torch.from_numpy(scipy.special.softmax(x.numpy(), -1))
