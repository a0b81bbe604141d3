# verdict: loses masking
# diagnosis: half_the_window
import torch


def local_attention(query, key, value, window):
    T, half = query.shape[2], window // 2
    out = []
    for i in range(T):
        near = slice(max(0, i - half), i + half + 1)
        s = (query[:, :, i].unsqueeze(2) * key[:, :, near]).sum(-1) / query.shape[3] ** 0.5
        out.append((s.softmax(-1).unsqueeze(-1) * value[:, :, near]).sum(2))
    return torch.stack(out, 2)
