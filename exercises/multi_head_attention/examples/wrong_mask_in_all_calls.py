# verdict: loses masking
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """Builds its additive mask once and keeps it."""

    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.cached = {}

    def additive(self, mask):
        if mask.shape not in self.cached:
            self.cached[mask.shape] = torch.zeros(mask.shape).masked_fill(mask == 0, float("-inf"))
        return self.cached[mask.shape]

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            p(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for p, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores + self.additive(mask)
        w = scores.softmax(-1)
        return self.out_proj((self.dropout(w) @ v).transpose(1, 2).flatten(-2)), w
