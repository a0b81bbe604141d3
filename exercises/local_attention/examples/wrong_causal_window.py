# verdict: loses masking
# diagnosis: past_only
import torch


def local_attention(query, key, value, window):
    T = query.shape[2]
    rows = []
    for i in range(T):
        lo = max(0, i - window)
        s = query[:, :, i : i + 1] @ key[:, :, lo : i + 1].mT * query.shape[-1] ** -0.5
        rows.append(s.softmax(-1) @ value[:, :, lo : i + 1])
    return torch.cat(rows, 2)
