# verdict: loses memory
import math
import torch

def local_attention(query, key, value, window, tile=16):
    T = query.shape[-2]
    out = torch.empty_like(query)
    pieces = []
    for start in range(0, T, tile):
        stop = min(start + tile, T)
        lo = max(start - window, 0)
        hi = min(stop + window - 1, T)
        s = query[..., start:stop, :] @ key[..., lo:hi, :].mT / math.sqrt(query.shape[-1])
        i = torch.arange(start, stop).unsqueeze(1)
        j = torch.arange(lo, hi).unsqueeze(0)
        s = s.masked_fill((i - j).abs() > window, -math.inf)
        s = s - s.max(dim=-1, keepdim=True).values
        e = s.exp()
        pieces.append(e @ value[..., lo:hi, :] / e.sum(dim=-1, keepdim=True))
    return torch.cat(pieces, dim=-2)
