# verdict: loses numerics
# diagnosis: added_mask
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = torch.zeros(seq.shape).masked_fill(seq == pad_idx, float("-inf"))
    return mask.unsqueeze(1).unsqueeze(2)
