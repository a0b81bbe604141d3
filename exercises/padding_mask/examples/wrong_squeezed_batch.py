# verdict: loses shapes
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = seq != pad_idx
    return mask.squeeze()[:, None, None, :] if mask.size(0) > 1 else mask.squeeze(0)[None, None, :]
