# verdict: loses gradients
# diagnosis: weights_cut_off
import numpy as np
import torch
from torch import nn


def np_softmax(a):
    a = np.exp(a - a.max(axis=1, keepdims=True))
    return a / a.sum(axis=1, keepdims=True)


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        scores = (x @ self.W_query) @ (x @ self.W_key).T / self.W_key.shape[1] ** 0.5
        weights = torch.from_numpy(np_softmax(scores.detach().numpy()))
        return weights @ (x @ self.W_value)
