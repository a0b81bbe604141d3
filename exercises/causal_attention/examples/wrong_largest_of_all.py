# verdict: loses numerics
# diagnosis: shifted_by_the_largest_of_all
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        att = torch.einsum("btd,bsd->bts", q, k) * k.shape[-1] ** -0.5
        seen = torch.ones(x.shape[1], x.shape[1]).tril().bool()
        att = att.masked_fill(~seen, float("-inf"))
        att = (att - att.max()).exp()
        att = att / att.sum(-1, keepdim=True)
        return self.drop(att) @ v
