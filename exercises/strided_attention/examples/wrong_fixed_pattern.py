# verdict: loses masking
# The other pattern of the paper, whole: blocks, and the last position of each block.
import torch


def strided_attention(query, key, value, stride):
    i = torch.arange(query.shape[2])[:, None]
    j = i.T
    allowed = (j <= i) & ((i // stride == j // stride) | (j % stride == stride - 1))
    s = (query @ key.mT) * query.shape[-1] ** -0.5
    return torch.where(allowed, s, float("-inf")).softmax(dim=-1) @ value
