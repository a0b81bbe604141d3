# verdict: loses gradients
# diagnosis: weights_cut_off
import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.tensor(torch.softmax(scores, dim=-1).tolist(), dtype=query.dtype)  # for the plot
    return weights @ value, weights
