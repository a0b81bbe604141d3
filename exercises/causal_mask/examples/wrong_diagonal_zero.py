# verdict: loses masking
# diagnosis: hides_itself
import torch

def create_causal_mask(seq_len):
    return torch.triu(torch.full((seq_len, seq_len), float("-inf")), diagonal=0)
