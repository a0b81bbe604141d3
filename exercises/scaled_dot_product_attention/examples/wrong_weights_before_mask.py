# verdict: loses masking
# diagnosis: returns_unmasked_weights
import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        output = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) @ value
    else:
        output = weights @ value
    return output, weights
