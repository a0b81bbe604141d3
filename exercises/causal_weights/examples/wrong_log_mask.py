# verdict: loses masking
# diagnosis: a_number_added_to_the_future
import math
import torch

def causal_attention_weights(scores, d_k):
    T = scores.shape[-1]
    mask = torch.tril(torch.ones(T, T))
    scores = scores / math.sqrt(d_k)
    scores = scores + torch.log(mask + 1e-45)
    return torch.softmax(scores, dim=-1)
