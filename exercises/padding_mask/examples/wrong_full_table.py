# verdict: loses shapes
# diagnosis: every_query_written_out
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = seq != pad_idx
    m = mask.unsqueeze(1)
    return (m & m.transpose(1, 2)).unsqueeze(1)
