# verdict: loses numerics
import torch

def create_padding_mask(seq, pad_idx=0):
    seq[seq != pad_idx] = 1
    seq[seq == pad_idx] = 0
    mask = seq.bool()
    return mask.unsqueeze(1).unsqueeze(2)
