# verdict: loses masking
# diagnosis: masks_after_the_softmax
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.size(-2)
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    w = ((query @ key.transpose(-2, -1)) / query.size(-1) ** 0.5).softmax(-1)
    return (w * ((j <= i) & ((j < num_sinks) | (i - j < window)))) @ value
