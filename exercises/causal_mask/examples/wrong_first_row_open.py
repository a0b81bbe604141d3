# verdict: loses masking
# diagnosis: first_row_open
import torch

def create_causal_mask(seq_len):
    mask = torch.full((seq_len, seq_len), float("-inf"))
    mask = torch.triu(mask, diagonal=1)
    mask[0] = 0
    return mask
