# verdict: loses numerics
# diagnosis: softmax_attention
import torch


def linear_attention(query, key, value, causal=False):
    s = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    if causal:
        s = s + torch.full_like(s, float("-inf")).triu(1)
    return s.softmax(-1) @ value
