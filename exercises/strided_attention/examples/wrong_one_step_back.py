# verdict: loses masking
# diagnosis: one_stride_only
import torch


def strided_attention(query, key, value, stride):
    T = query.shape[-2]
    keep = torch.zeros(T, T).bool()
    for i in range(T):
        keep[i, max(0, i - stride) : i + 1] = True  # the last ones, and the one a stride back
    scores = (query @ key.transpose(-1, -2)) / query.shape[-1] ** 0.5
    return scores.masked_fill(~keep, float("-inf")).softmax(-1) @ value
