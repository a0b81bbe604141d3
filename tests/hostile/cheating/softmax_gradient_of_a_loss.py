"""Read the probabilities off the gradient of a loss.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.nn.functional as F


def softmax(x):
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        loss = F.cross_entropy(leaf, torch.zeros(len(x)).long(), reduction="sum")
        found = torch.autograd.grad(loss, leaf)[0]
    found[:, 0] += 1
    return found
