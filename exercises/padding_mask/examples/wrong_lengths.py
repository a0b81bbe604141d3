# verdict: loses masking
# diagnosis: counted_from_the_left
import torch

def create_padding_mask(seq, pad_idx=0):
    lengths = (seq != pad_idx).sum(1)
    return (torch.arange(seq.shape[1])[None] < lengths[:, None])[:, None, None]
