# verdict: full marks
# b batch, t and s time, h heads, d width of a head
import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        self.head_dim, rest = divmod(d_out, num_heads)
        if rest:
            raise ValueError(f"{num_heads} heads cannot share {d_out} features")
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.k_proj = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.v_proj = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.o_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, self.head_dim))

    def forward(self, x: Tensor) -> Tensor:
        q = self.heads(self.q_proj(x)) * self.head_dim**-0.5
        k, v = self.heads(self.k_proj(x)), self.heads(self.v_proj(x))
        scores = torch.einsum("bthd,bshd->bhts", q, k)
        future = torch.full(scores.shape[-2:], -torch.inf, dtype=x.dtype, device=x.device).triu(diagonal=1)
        weights = self.dropout((scores + future).softmax(dim=-1))
        return self.o_proj(torch.einsum("bhts,bshd->bthd", weights, v).flatten(-2))
