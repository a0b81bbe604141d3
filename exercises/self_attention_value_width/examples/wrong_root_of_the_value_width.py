# verdict: loses numerics
# diagnosis: scaled_by_the_values_width
import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.d_out = d_out_v
        self.W_query = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_key = nn.Linear(d_in, d_out_kq, bias=False)
        self.W_value = nn.Linear(d_in, d_out_v, bias=False)

    def forward(self, x):
        attn_scores = self.W_query(x) @ self.W_key(x).T
        attn_weights = torch.softmax(attn_scores / self.d_out**0.5, dim=-1)
        return attn_weights @ self.W_value(x)
