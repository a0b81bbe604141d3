# verdict: loses numerics
# A sink that is in the window as well counts twice.
import torch


def sink_attention(query, key, value, window, num_sinks):
    outputs = []
    for t in range(query.shape[2]):
        seen = list(range(min(num_sinks, t + 1))) + list(range(max(0, t - window + 1), t + 1))
        s = (query[:, :, t, None] * key[:, :, seen]).sum(-1) / query.shape[-1] ** 0.5
        outputs.append((s.softmax(-1)[..., None] * value[:, :, seen]).sum(2))
    return torch.stack(outputs, dim=2)
