# verdict: loses numerics
# diagnosis: scaled_by_the_values_width
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    d = v.size(-1)
    s = torch.matmul(q, k.transpose(-2, -1)) / d**0.5
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    a = torch.softmax(s, -1)
    return torch.matmul(a, v), a
