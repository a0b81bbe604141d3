# verdict: loses masking
# diagnosis: the_lowest_number
import torch

def create_causal_mask(seq_len):
    mask = torch.full((seq_len, seq_len), torch.finfo(torch.get_default_dtype()).min)
    return torch.triu(mask, diagonal=1)
