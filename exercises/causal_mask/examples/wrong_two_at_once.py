# verdict: loses masking
# diagnosis: sees_one_ahead, minus_ten_thousand
import torch

def create_causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len)
    for i in range(seq_len):
        mask[i, i + 2:] = -1e4
    return mask
