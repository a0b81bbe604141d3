# verdict: loses gradients
# diagnosis: detached_answers
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_key = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_value = nn.Linear(d_in, d_out_v, bias=False)

    def forward(self, x_1, x_2):
        memory = x_2.detach()
        scores = self.W_query(x_1) @ self.W_key(memory).T
        return torch.softmax(scores / self.W_key.out_features**0.5, dim=-1) @ self.W_value(memory)
