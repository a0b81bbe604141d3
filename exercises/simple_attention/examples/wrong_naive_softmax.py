# verdict: loses numerics
# diagnosis: overflowing_softmax
import torch


def softmax_naive(x):
    return torch.exp(x) / torch.exp(x).sum(dim=-1, keepdim=True)


def simple_attention(x):
    weights = softmax_naive(torch.einsum("id,jd->ij", x, x))
    return weights @ x, weights
