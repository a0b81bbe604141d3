# verdict: loses shapes
# diagnosis: axes_in_front
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = seq != pad_idx
    return mask[None, None]
