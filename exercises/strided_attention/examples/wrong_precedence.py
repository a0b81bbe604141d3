# verdict: loses masking
# diagnosis: strides_in_the_future_too
# `and` binds tighter than `or`
import torch


def sees(i, j, stride):
    return j <= i and i - j < stride or (i - j) % stride == 0


def strided_attention(query, key, value, stride):
    T = query.shape[2]
    mask = torch.tensor([[sees(i, j, stride) for j in range(T)] for i in range(T)])
    s = query @ key.transpose(2, 3) / query.shape[3] ** 0.5
    s[:, :, ~mask] = -torch.inf
    return s.softmax(3) @ value
