# verdict: loses shapes
# Unpacks exactly two axes.
import torch


def renormalise_causal(weights):
    rows, cols = weights.shape
    out = torch.zeros(rows, cols, dtype=weights.dtype)
    for i in range(rows):
        out[i, : i + 1] = weights[i, : i + 1] / weights[i, : i + 1].sum()
    return out
