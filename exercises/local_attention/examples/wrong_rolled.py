# verdict: loses masking
# diagnosis: ends_are_neighbours
import torch


def local_attention(query, key, value, window):
    shifts = range(-window, window + 1)
    s = torch.stack([(query * key.roll(-o, 2)).sum(-1) for o in shifts], -1) / query.shape[-1] ** 0.5
    w = torch.softmax(s, -1)
    return sum(w[..., n : n + 1] * value.roll(-o, 2) for n, o in enumerate(shifts))
