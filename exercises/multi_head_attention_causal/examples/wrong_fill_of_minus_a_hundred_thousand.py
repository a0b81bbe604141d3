# verdict: loses masking
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError("heads do not fit")
        self.h = num_heads
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3))
        self.W_o = nn.Linear(d_out, d_out)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("seen", torch.tril(torch.ones(context_length, context_length)))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (w(x).view(B, T, self.h, -1).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        a = torch.einsum("bhid,bhjd->bhij", q, k) / q.size(-1) ** 0.5
        a = a.masked_fill(self.seen[:T, :T] == 0, -1e5)
        y = self.drop(a.softmax(-1)) @ v
        return self.W_o(y.transpose(1, 2).reshape(B, T, -1))
