# verdict: loses masking
# One mask for each length, whatever window and sinks were.
from functools import cache

import torch

wanted = {}


@cache
def build(T):
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    return (j <= i) & ((j < wanted["sinks"]) | (i - j < wanted["window"]))


def sink_attention(query, key, value, window, num_sinks):
    wanted.update(window=window, sinks=num_sinks)
    s = query @ key.mT / query.shape[-1] ** 0.5
    return s.masked_fill(~build(query.shape[2]), -torch.inf).softmax(-1) @ value
