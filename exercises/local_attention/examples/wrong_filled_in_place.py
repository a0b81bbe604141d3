# verdict: loses gradients
import torch


def local_attention(query, key, value, window):
    out = torch.zeros_like(query)
    for i in range(query.shape[2]):
        a, b = max(0, i - window), i + window + 1
        s = query[:, :, i : i + 1] @ key[:, :, a:b].mT / query.shape[-1] ** 0.5
        out[:, :, i : i + 1] = (s.softmax(-1) @ value[:, :, a:b]).data
    return out
