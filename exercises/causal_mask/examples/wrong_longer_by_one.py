# verdict: loses shapes
# diagnosis: one_too_large
import torch

def create_causal_mask(seq_len):
    mask = torch.full((seq_len + 1, seq_len + 1), float("-inf"))
    return torch.triu(mask, diagonal=1)
