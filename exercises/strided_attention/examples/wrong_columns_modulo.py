# verdict: loses masking
# diagnosis: strides_from_the_beginning
import math

import torch


def strided_attention(query, key, value, stride):
    n = query.size(2)
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = i - j < stride or j % stride == 0
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(query.size(-1))
    return torch.einsum("bhqk,bhkd->bhqd", scores.masked_fill(~mask, -1e9).softmax(-1), value)
