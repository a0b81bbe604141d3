# verdict: loses masking
# diagnosis: lengths_of_the_first
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = (seq[0] != pad_idx).expand_as(seq)
    return mask.unsqueeze(1).unsqueeze(2)
