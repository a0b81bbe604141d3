# verdict: loses shapes
# diagnosis: with_batch_and_heads
import torch

def create_causal_mask(seq_len):
    mask = torch.full((seq_len, seq_len), float("-inf"))
    return torch.triu(mask, diagonal=1)[None, None]
