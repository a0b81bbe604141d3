# verdict: full marks
# Sinks and window apart, joined by their exponentials. The sinks are cut out of the keys before they are scored.
import torch


def sink_attention(query, key, value, window, num_sinks):
    T, d = query.shape[-2:]
    n = min(num_sinks, T)
    i = torch.arange(T)[:, None]
    j = torch.arange(T)[None]
    near = (j <= i) & (i - j < window) & (j >= n)
    first = j[:, :n] <= i
    s_near = (query @ key.transpose(2, 3) / d**0.5).masked_fill(~near, -torch.inf)
    s_first = (query @ key[:, :, :n].transpose(2, 3) / d**0.5).masked_fill(~first, -torch.inf)
    both = torch.cat([s_first, s_near], dim=-1)
    weights = both.softmax(-1)
    return weights[..., :n] @ value[:, :, :n] + weights[..., n:] @ value
