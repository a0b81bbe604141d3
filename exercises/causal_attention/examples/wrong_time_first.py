# verdict: loses shapes
# diagnosis: time_before_batch
import torch
import torch.nn as nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x.transpose(0, 1)  # (T, B, d_in)
        T = x.shape[0]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        s = torch.einsum("tbd,sbd->bts", q, k) / k.shape[-1] ** 0.5
        w = self.dropout(s.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf")).softmax(-1))
        return torch.einsum("bts,sbd->tbd", w, v)
