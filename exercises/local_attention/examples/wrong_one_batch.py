# verdict: loses shapes
import torch


def local_attention(query, key, value, window):
    q, k, v = query[0], key[0], value[0]
    rows = []
    for i in range(q.shape[1]):
        a, b = max(0, i - window), i + window + 1
        s = q[:, i : i + 1] @ k[:, a:b].transpose(1, 2) / q.shape[-1] ** 0.5
        rows.append(s.softmax(-1) @ v[:, a:b])
    return torch.cat(rows, 1)
