# verdict: loses masking
# diagnosis: sinks_in_the_future
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[-2]
    mask = torch.ones(T, T).tril().bool() & torch.ones(T, T).triu(1 - window).bool()
    mask[:, :num_sinks] = True
    s = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ value
