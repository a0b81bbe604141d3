# verdict: loses numerics
# diagnosis: softmax_over_queries
import math
import torch

def causal_attention_weights(scores, d_k):
    T = scores.shape[-1]
    mask = torch.tril(torch.ones(T, T))
    scores = scores / math.sqrt(d_k)
    scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.softmax(scores, dim=-2)
