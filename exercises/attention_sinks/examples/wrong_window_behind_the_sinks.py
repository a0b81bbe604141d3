# verdict: loses masking
# The window slides, but never over the sinks: before it has left them, it holds them and nothing is won.
import torch


def sink_attention(query, key, value, window, num_sinks):
    outputs = []
    for t in range(query.shape[2]):
        first = list(range(min(num_sinks, t + 1)))
        last = list(range(max(num_sinks, t - window), t + 1))
        seen = first + last
        s = (query[:, :, t, None] * key[:, :, seen]).sum(-1) / query.shape[-1] ** 0.5
        outputs.append((s.softmax(-1)[..., None] * value[:, :, seen]).sum(2))
    return torch.stack(outputs, dim=2)
