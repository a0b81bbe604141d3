# verdict: loses masking
# diagnosis: no_sinks
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[-2]
    s = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    band = torch.ones(T, T).tril() * torch.ones(T, T).triu(-window + 1)
    return torch.softmax(s.masked_fill(band == 0, -torch.inf), -1) @ value
