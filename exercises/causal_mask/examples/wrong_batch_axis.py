# verdict: loses shapes
# diagnosis: with_a_batch
import torch

def create_causal_mask(seq_len):
    mask = torch.full((seq_len, seq_len), float("-inf"))
    return torch.triu(mask, diagonal=1).unsqueeze(0)
