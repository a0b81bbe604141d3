# verdict: loses masking
import math
import torch

def causal_attention_weights(scores, d_k):
    T = scores.shape[-1]
    mask = torch.tril(torch.ones(T, T))
    scores = scores / math.sqrt(d_k)
    scores = scores.masked_fill(mask.flip(0) == 0, float("-inf"))
    return torch.softmax(scores, dim=-1)
