# verdict: loses shapes
# diagnosis: every_query_written_out
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = seq != pad_idx
    return mask.unsqueeze(1).unsqueeze(2).expand(-1, 1, seq.size(1), -1)
