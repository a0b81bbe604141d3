# verdict: loses masking
# diagnosis: no_window
import torch


def local_attention(query, key, value, window):
    out = []
    for i in range(query.shape[2]):
        s = query[:, :, i : i + 1] @ key.mT / query.shape[-1] ** 0.5
        far = (torch.arange(query.shape[2]) - i).abs() > window
        s.masked_fill(far, float("-inf"))
        out.append(s.softmax(-1) @ value)
    return torch.cat(out, 2)
