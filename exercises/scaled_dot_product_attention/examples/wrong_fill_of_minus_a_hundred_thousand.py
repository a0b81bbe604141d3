# verdict: loses masking
import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = key.shape[-1]
    logits = query @ key.mT / d_k ** 0.5
    if mask is not None:
        logits = torch.where(mask.bool(), logits, -1e5)
    weights = logits.softmax(-1)
    return weights @ value, weights
