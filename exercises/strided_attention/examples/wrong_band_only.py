# verdict: loses masking
# diagnosis: only_the_near_past
import torch


def strided_attention(query, key, value, stride):
    T = query.shape[-2]
    s = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    band = torch.ones(T, T).tril() * torch.ones(T, T).triu(-stride + 1)
    return torch.softmax(s.masked_fill(band == 0, -torch.inf), -1) @ value
