# verdict: loses masking
# diagnosis: padding_counts
import torch
import torch.nn.functional as F


def local_attention(query, key, value, window):
    k = F.pad(key, (0, 0, window, window)).unfold(2, 2 * window + 1, 1)
    v = F.pad(value, (0, 0, window, window)).unfold(2, 2 * window + 1, 1)
    scores = torch.einsum("bhtd,bhtdw->bhtw", query, k) / query.shape[-1] ** 0.5
    weights = F.softmax(scores, dim=-1)
    return torch.einsum("bhtw,bhtdw->bhtd", weights, v)
