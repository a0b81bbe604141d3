# verdict: loses shapes
import torch

def create_causal_mask(seq_len):
    mask = torch.full((seq_len, seq_len), float("-inf"), dtype=torch.float16)
    return torch.triu(mask, diagonal=1)
