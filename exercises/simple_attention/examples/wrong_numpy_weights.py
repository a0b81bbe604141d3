# verdict: loses gradients
# diagnosis: weights_cut_off
import numpy as np
import torch


def simple_attention(x):
    a = x.detach().numpy()
    s = a @ a.T
    e = np.exp(s - s.max(axis=1, keepdims=True))
    weights = torch.from_numpy(e / e.sum(axis=1, keepdims=True))
    return weights @ x, weights
