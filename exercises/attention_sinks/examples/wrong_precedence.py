# verdict: loses masking
# diagnosis: sees_the_future
# `j <= i and a or b`: what is recent is asked without the causal condition
import torch


def sees(i, j, window, num_sinks):
    return j <= i and j < num_sinks or i - j < window


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[2]
    mask = torch.tensor([[sees(i, j, window, num_sinks) for j in range(T)] for i in range(T)])
    s = query @ key.transpose(2, 3) / query.shape[3] ** 0.5
    s[:, :, ~mask] = -torch.inf
    return s.softmax(3) @ value
