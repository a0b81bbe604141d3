# verdict: loses numerics
import torch

def sink_attention(query, key, value, window, num_sinks):
    T, d = query.shape[-2:]
    rows = []
    for i in range(T):
        seen = sorted({j for j in range(min(num_sinks, i + 1))} | set(range(max(0, i - window + 1), i + 1)))
        logits = torch.einsum("bhd,bhkd->bhk", query[:, :, i], key[:, :, seen]) / d ** 0.5
        rows.append(torch.einsum("bhk,bhkd->bhd", logits.softmax(-1), value[:, :, seen] * (torch.tensor(seen) >= num_sinks)[:, None]))
    return torch.stack(rows, dim=-2)
