# verdict: loses masking
import torch


def scaled_dot_product_attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights
