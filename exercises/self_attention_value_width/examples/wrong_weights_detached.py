# verdict: loses gradients
# diagnosis: weights_cut_off
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def forward(self, x):
        with torch.no_grad():
            scores = (x @ self.W_query) @ (x @ self.W_key).T / self.W_key.shape[1] ** 0.5
            self.weights = torch.softmax(scores, dim=-1)
        return self.weights @ (x @ self.W_value)
