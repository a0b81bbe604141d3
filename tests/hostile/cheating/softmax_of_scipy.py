"""Use another library's.

Group: softmax
Expected: error TypeError
Stopped by: nothing more can be imported; a stand-in takes its place
Without traps: error TypeError
"""

import scipy.special
import torch


def softmax(x):
    return torch.from_numpy(scipy.special.softmax(x.numpy(), -1))
