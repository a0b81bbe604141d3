# verdict: loses masking
# diagnosis: hides_nothing
import torch

def create_causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len)
    hidden = torch.triu(torch.ones(seq_len, seq_len), 1).bool()
    mask.masked_fill(hidden, float("-inf"))
    return mask
