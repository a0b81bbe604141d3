# verdict: loses numerics
# diagnosis: scaled_by_twice_the_width
import math
import torch

def causal_attention_weights(scores, d_k):
    T = scores.shape[-1]
    mask = torch.tril(torch.ones(T, T))
    scores = scores / d_k ** 1/2
    scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.softmax(scores, dim=-1)
