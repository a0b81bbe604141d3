# verdict: loses masking
# -10000 is enough only while no hidden score is that far above the visible ones.
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """Folds the heads into the batch axis, so that bmm does."""

    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError("d_out % num_heads")
        self.num_heads = num_heads
        self.to_q = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.to_k = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.to_v = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.to_out = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def fold(self, t):
        b, n, d = t.shape
        t = t.reshape(b, n, self.num_heads, d // self.num_heads)
        return t.permute(0, 2, 1, 3).reshape(b * self.num_heads, n, d // self.num_heads)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.fold(self.to_q(x)), self.fold(self.to_k(x)), self.fold(self.to_v(x))
        mask = torch.ones(n, n, device=x.device).triu(1).bool()
        scores = torch.baddbmm(torch.zeros(1, 1, 1, dtype=x.dtype), q, k.mT, alpha=q.shape[-1] ** -0.5)
        scores = scores + mask * -10000.0
        out = torch.bmm(self.dropout(scores.softmax(-1)), v)
        out = out.view(b, self.num_heads, n, -1).permute(0, 2, 1, 3).reshape(b, n, -1)
        return self.to_out(out)
