# verdict: loses masking
# diagnosis: first_position_only
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[-2]
    mask = torch.ones(T, T).tril().bool() & torch.ones(T, T).triu(1 - window).bool()
    if num_sinks:
        mask[:, 0] = True
    s = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ value
