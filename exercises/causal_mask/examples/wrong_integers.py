# verdict: loses shapes
import torch

def create_causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.long)
    mask[torch.triu(torch.ones(seq_len, seq_len), 1) == 1] = -10**9
    return mask
