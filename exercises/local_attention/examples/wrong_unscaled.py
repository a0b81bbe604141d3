# verdict: loses numerics
# diagnosis: no_scaling
import torch


def local_attention(query, key, value, window):
    outs = []
    for i in range(query.shape[-2]):
        a, b = max(i - window, 0), i + window + 1
        s = torch.einsum("...d,...kd->...k", query[..., i, :], key[..., a:b, :])
        outs.append(torch.einsum("...k,...kd->...d", torch.softmax(s, -1), value[..., a:b, :]))
    return torch.stack(outs, -2)
