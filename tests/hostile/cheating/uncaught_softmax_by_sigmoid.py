"""Make a softmax of sigmoids: each is the softmax of two scores.

Group: softmax
Expected: right
Stopped by: nothing, human eye
"""

import torch


def softmax(x):
    odds = [1 / torch.sigmoid(x[:, one : one + 1] - x) - 1 for one in range(x.shape[1])]
    return torch.stack([1 / one.sum(-1) for one in odds], -1)
