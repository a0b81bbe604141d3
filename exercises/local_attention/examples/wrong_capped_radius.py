# verdict: loses masking
import torch
import torch.nn as nn
import torch.nn.functional as F

class SlidingWindow(nn.Module):
    def __init__(self, radius):
        super().__init__()
        self.radius = radius
        self.pad = nn.ZeroPad2d((0, 0, radius, radius))

    def windows(self, x):
        return self.pad(x).unfold(2, 2 * self.radius + 1, 1)

    def forward(self, q, k, v):
        T = q.shape[2]
        kw, vw = self.windows(k), self.windows(v)          # b h t d w
        logits = torch.matmul(q.unsqueeze(-2), kw).squeeze(-2) * q.shape[-1] ** -0.5
        valid = F.pad(torch.ones(T, dtype=torch.bool), (self.radius, self.radius)).unfold(0, 2 * self.radius + 1, 1)
        logits = logits.masked_fill(~valid, float("-inf"))
        return torch.matmul(vw, F.softmax(logits, -1).unsqueeze(-1)).squeeze(-1)

def local_attention(query, key, value, window):
    radius = min(window, query.shape[2] // 2)
    return SlidingWindow(radius)(query, key, value)
