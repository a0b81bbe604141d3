# verdict: loses numerics
# diagnosis: both_sequences_answer
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_key = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_value = nn.Linear(d_in, d_out_v, bias=False)

    def forward(self, x_1, x_2):
        everything = torch.cat([x_1, x_2], dim=0)
        q, k, v = self.W_query(x_1), self.W_key(everything), self.W_value(everything)
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
