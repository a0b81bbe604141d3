"""Use the adaptive one of the large vocabularies.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch
from torch import nn


def softmax(x):
    module = nn.AdaptiveLogSoftmaxWithLoss(5, 5, [4], div_value=1.0, dtype=x.dtype)
    with torch.no_grad():
        module.head.weight.copy_(torch.eye(5))
    return module.log_prob(x).exp()
