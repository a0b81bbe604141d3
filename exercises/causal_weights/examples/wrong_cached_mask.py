# verdict: loses gradients
import math
import torch
_mask = None
def causal_attention_weights(scores, d_k):
    global _mask
    T = scores.shape[-1]
    if _mask is None:
        _mask = torch.tril(torch.ones(T, T))
    scores = scores / math.sqrt(d_k)
    return torch.softmax(scores.masked_fill(_mask[:T, :T] == 0, float("-inf")), dim=-1)
