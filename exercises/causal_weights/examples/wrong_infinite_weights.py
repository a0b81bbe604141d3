# verdict: loses masking
# diagnosis: infinite_weights
import torch
import torch.nn.functional as F


def causal_attention_weights(scores, d_k):
    weights = F.softmax(scores / d_k**0.5, dim=-1)
    keep = torch.tril(torch.ones(scores.shape[-2:])).bool()
    return torch.where(keep, weights, -torch.inf)
