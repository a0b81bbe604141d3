# verdict: full marks
# Letters: t and s tokens, i features in, o features out.
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(d_in, d_out) * 0.02)
        self.W_K = nn.Parameter(torch.randn(d_in, d_out) * 0.02)
        self.W_V = nn.Parameter(torch.randn(d_in, d_out) * 0.02)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = torch.einsum("ti,io->to", x, self.W_Q)
        k = torch.einsum("ti,io->to", x, self.W_K)
        v = torch.einsum("ti,io->to", x, self.W_V)
        scores = torch.einsum("to,so->ts", q, k) * k.size(-1) ** -0.5
        return torch.einsum("ts,so->to", scores.softmax(-1), v)
