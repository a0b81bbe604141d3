# verdict: loses numerics
# The query itself is near and on a stride, and is counted twice.
import torch


def strided_attention(query, key, value, stride):
    outputs = []
    for i in range(query.size(2)):
        seen = list(range(max(0, i - stride + 1), i + 1)) + list(range(i, -1, -stride))
        s = (query[:, :, i, None] * key[:, :, seen]).sum(-1) / query.size(-1) ** 0.5
        outputs.append((s.softmax(-1)[..., None] * value[:, :, seen]).sum(2))
    return torch.stack(outputs, 2)
