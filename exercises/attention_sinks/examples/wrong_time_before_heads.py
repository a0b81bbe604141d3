# verdict: loses shapes
# diagnosis: time_before_heads
import torch


def sink_attention(query, key, value, window, num_sinks):
    outputs = []
    for t in range(query.shape[2]):
        seen = [j for j in range(t + 1) if j < num_sinks or t - j < window]
        s = (query[:, :, t, None] * key[:, :, seen]).sum(-1) / query.shape[-1] ** 0.5
        outputs.append((s.softmax(-1)[..., None] * value[:, :, seen]).sum(2))
    return torch.stack(outputs, dim=1)
