# verdict: full marks
import torch
def create_padding_mask(seq, pad_idx=0):
    key_padding_mask = seq.eq(pad_idx)
    return torch.logical_not(key_padding_mask).unflatten(0, (seq.size(0), 1, 1))
