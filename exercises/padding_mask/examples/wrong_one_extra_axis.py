# verdict: loses shapes
# diagnosis: one_axis_added
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = seq != pad_idx
    return mask.unsqueeze(1)
