# verdict: loses masking
# diagnosis: hidden_scores_are_minus_ten_thousand
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.size(-2)
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    s = (query @ key.transpose(-2, -1)) / query.size(-1) ** 0.5
    return s.masked_fill(~((j <= i) & ((j < num_sinks) | (i - j < window))), -1e4).softmax(-1) @ value
