# verdict: loses shapes
import math
import torch

def causal_attention_weights(scores, d_k):
    T = scores.shape[-1]
    mask = torch.tril(torch.ones(16, 16))
    scores = scores / math.sqrt(d_k)
    scores = scores.masked_fill(mask[:T, :T] == 0, float("-inf"))
    return torch.softmax(scores, dim=-1)
