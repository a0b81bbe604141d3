# verdict: loses masking
# diagnosis: nothing_hidden
import torch

def create_padding_mask(seq, pad_idx=0):
    mask = torch.tensor([[t is not pad_idx for t in row] for row in seq])
    return mask.unsqueeze(1).unsqueeze(2)
