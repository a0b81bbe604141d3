# verdict: loses numerics
import math
import torch

def sink_attention(query, key, value, window, num_sinks):
    B, H, T, D = query.shape
    q, k, v = (t.reshape(B * H, T, D) for t in (query, key, value))
    scores = torch.bmm(q, k.transpose(1, 2)).div(math.sqrt(D))
    allowed = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        allowed[i, max(i + 1 - window, 0) : i + 1] = True
        allowed[i, : min(num_sinks, i + 1)] = True
    scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
    scores = scores - scores.amax(dim=2, keepdim=True)
    e = scores.exp()
    return torch.bmm(e / (e.sum(2, keepdim=True) + 1), v).view(B, H, T, D)
