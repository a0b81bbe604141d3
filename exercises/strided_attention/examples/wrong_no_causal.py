# verdict: loses masking
# diagnosis: looks_both_ways
import torch


def strided_attention(query, key, value, stride):
    pos = torch.arange(query.shape[-2])
    dist = (pos[:, None] - pos[None, :]).abs()
    mask = (dist < stride) | (dist % stride == 0)
    scores = torch.matmul(query, key.transpose(-2, -1)) / query.shape[-1] ** 0.5
    return torch.matmul(scores.masked_fill(~mask, float("-inf")).softmax(dim=-1), value)
