# verdict: loses shapes
# Works only where there are at least as many tokens as sinks.
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[-2]
    bias = torch.full((T, T), -torch.inf)
    bias[:, :num_sinks] = torch.zeros(T, num_sinks)
    for i in range(T):
        bias[i, max(0, i - window + 1) : i + 1] = 0
        bias[i, i + 1 :] = -torch.inf
    return (query @ key.mT / query.shape[-1] ** 0.5 + bias).softmax(-1) @ value
