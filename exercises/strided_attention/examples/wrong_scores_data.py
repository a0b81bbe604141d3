# verdict: loses gradients
# diagnosis: weights_cut_off
import torch


def strided_attention(query, key, value, stride):
    d = torch.arange(query.size(2))[:, None] - torch.arange(query.size(2))
    with torch.no_grad():
        s = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
        s = s.masked_fill(~((d >= 0) & ((d < stride) | (d % stride == 0))), -torch.inf)
        w = s.softmax(-1)
    return w @ value
