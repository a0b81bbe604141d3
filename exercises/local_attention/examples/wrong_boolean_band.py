# verdict: loses memory
# diagnosis: holds_all_scores
# The scores are local; the table that says which ones exist is not.
import torch


def local_attention(query, key, value, window):
    B, H, T, D = query.shape
    band = torch.ones(T, T, dtype=torch.bool).tril(window).triu(-window)
    out = torch.empty_like(value)
    for i in range(T):
        seen = band[i].nonzero().flatten()
        s = (query[:, :, i : i + 1] @ key[:, :, seen].mT) / D**0.5
        out[:, :, i] = (s.softmax(-1) @ value[:, :, seen]).squeeze(2)
    return out
