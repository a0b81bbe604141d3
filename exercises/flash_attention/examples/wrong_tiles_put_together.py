# verdict: loses memory
# diagnosis: holds_all_scores
import torch


def flash_attention(query, key, value, block_size=64, causal=False):
    T = query.shape[2]
    rows = []
    for i in range(0, T, block_size):
        row = []
        for j in range(0, T, block_size):
            row.append(query[:, :, i:i + block_size] @ key[:, :, j:j + block_size].transpose(-1, -2))
        rows.append(torch.cat(row, dim=-1))
    scores = torch.cat(rows, dim=-2) / query.shape[-1] ** 0.5
    if causal:
        scores += torch.full((T, T), float("-inf")).triu(1)
    lse = scores.logsumexp(-1)
    return scores.softmax(-1) @ value, lse
