# verdict: loses shapes
# diagnosis: batch_on_the_second_axis
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = seq != pad_idx
    return mask.unsqueeze(0).unsqueeze(2)
