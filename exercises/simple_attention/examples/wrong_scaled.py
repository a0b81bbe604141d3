# verdict: loses numerics
# diagnosis: scaled_by_the_root
# Out of habit.
import torch


def simple_attention(x):
    d_k = x.size(-1)
    scores = torch.matmul(x, x.transpose(-2, -1)) / torch.sqrt(torch.tensor(d_k, dtype=x.dtype))
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, x), weights
