# verdict: loses masking
# diagnosis: queries_are_sinks
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[-2]
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    mask = i - j < window
    mask[:num_sinks] = True
    mask = mask & (j <= i)
    s = query @ key.mT / query.shape[-1] ** 0.5
    return torch.where(mask, s, -torch.inf).softmax(-1) @ value
