# verdict: loses gradients
# diagnosis: detached_scores
import numpy as np
import torch


def softmax(x, dim=-1):
    a = x.detach().numpy()
    e = np.exp(a - a.max(axis=dim, keepdims=True))
    return torch.from_numpy(e / e.sum(axis=dim, keepdims=True))
