# verdict: loses memory
# diagnosis: holds_all_scores
import torch


def local_attention(query, key, value, window):
    T = query.shape[-2]
    i = torch.arange(T)
    mask = (i[:, None] - i[None, :]).abs() <= window
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1) @ value
