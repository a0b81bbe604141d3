# verdict: loses masking
# diagnosis: mask_after_the_softmax
import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value, weights
