"""Ask a distribution for its probabilities.

Group: softmax
Expected: forbidden
Stopped by: traps
"""

import torch
import torch.distributions


def softmax(x):
    return torch.distributions.Categorical(logits=x).probs
