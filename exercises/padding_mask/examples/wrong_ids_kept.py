# verdict: loses shapes
# diagnosis: token_numbers_kept
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = seq * (seq != pad_idx)
    return mask.unsqueeze(1).unsqueeze(2)
