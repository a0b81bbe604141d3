# verdict: loses numerics
import torch

CHUNK = 25


def banded(q, k, v, window, start, first):
    rows = torch.arange(start, start + q.shape[-2])[:, None]
    columns = torch.arange(first, first + k.shape[-2])[None, :]
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    scores = scores.masked_fill((rows - columns).abs() > window, float("-inf"))
    return scores.softmax(-1) @ v


def local_attention(query, key, value, window):
    time = query.shape[-2]
    if time <= CHUNK:
        return banded(query, key, value, window, 0, 0)
    output = torch.zeros_like(query)
    for number in range(time // CHUNK):
        start, end = number * CHUNK, (number + 1) * CHUNK
        first, last = max(0, start - window), min(time, end + window)
        part = banded(query[..., start:end, :], key[..., first:last, :], value[..., first:last, :], window, start, first)
        output[..., start:end, :] = part
    return output
