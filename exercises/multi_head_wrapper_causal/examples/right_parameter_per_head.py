# verdict: full marks
# One parameter with an axis of heads, and a bias of its own.
import torch
from torch import nn


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        for name in ("query", "key", "value"):
            self.register_parameter("W_" + name, nn.Parameter(torch.empty(num_heads, d_in, d_out).normal_()))
            if qkv_bias:
                self.register_parameter("b_" + name, nn.Parameter(torch.zeros(num_heads, d_out)))
        self.bias = qkv_bias
        self.dropout = nn.Dropout(dropout)

    def _project(self, x, name):
        y = torch.einsum("bti,hio->hbto", x, getattr(self, "W_" + name))
        if self.bias:
            y = y + getattr(self, "b_" + name)[:, None, None]
        return y

    def forward(self, x):
        q, k, v = (self._project(x, n) for n in ("query", "key", "value"))
        out = []
        for head in range(len(q)):  # one at a time
            s = torch.bmm(q[head], k[head].transpose(1, 2)) * q.shape[-1] ** -0.5
            i = torch.arange(x.shape[1])
            s[:, i[:, None] < i[None, :]] = -torch.inf
            out.append(torch.bmm(self.dropout(torch.softmax(s, 2)), v[head]))
        return torch.cat(out, 2)
