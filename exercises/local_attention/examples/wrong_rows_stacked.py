# verdict: loses memory
# diagnosis: holds_all_scores
import torch


def local_attention(query, key, value, window):
    T = query.shape[2]
    all_weights = []
    for i in range(T):
        lo, hi = max(0, i - window), min(T, i + window + 1)
        s = torch.einsum("bhd,bhkd->bhk", query[:, :, i], key[:, :, lo:hi]) / query.shape[-1] ** 0.5
        row = torch.zeros(*query.shape[:2], T, dtype=query.dtype)
        row[:, :, lo:hi] = s.softmax(-1)
        all_weights.append(row)
    return torch.stack(all_weights, dim=2) @ value
