# verdict: loses numerics
# diagnosis: overflowing_softmax
import torch


def local_attention(query, key, value, window):
    outs = []
    for i in range(query.shape[-2]):
        a, b = max(i - window, 0), i + window + 1
        e = torch.exp(query[..., i : i + 1, :] @ key[..., a:b, :].mT / query.shape[-1] ** 0.5)
        outs.append(e @ value[..., a:b, :] / e.sum(-1, keepdim=True))
    return torch.cat(outs, -2)
