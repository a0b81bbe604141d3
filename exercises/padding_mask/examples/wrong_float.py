# verdict: loses shapes
# diagnosis: numbers
import torch
def create_padding_mask(seq, pad_idx=0):
    return (seq != pad_idx)[:, None, None].to(torch.get_default_dtype())
