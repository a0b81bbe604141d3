# verdict: loses masking
# One mask for each length, whatever the stride was.
import torch

MASKS = {}


def strided_attention(query, key, value, stride):
    T = query.size(2)
    if T not in MASKS:
        d = torch.arange(T)[:, None] - torch.arange(T)
        MASKS[T] = (d >= 0) & ((d < stride) | (d % stride == 0))
    s = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    return s.masked_fill(~MASKS[T], -torch.inf).softmax(-1) @ value
