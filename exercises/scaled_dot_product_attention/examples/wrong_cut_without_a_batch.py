# verdict: loses gradients
import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    single = query.dim() == 2
    if single:  # put a batch in front, and take it away again
        query = torch.tensor(query.tolist(), dtype=query.dtype).unsqueeze(0)
        key, value = key.unsqueeze(0), value.unsqueeze(0)
    scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.bool(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = weights @ value
    return (out[0], weights[0]) if single else (out, weights)
