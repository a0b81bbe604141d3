# verdict: loses masking
# diagnosis: hides_the_past
import torch

def create_causal_mask(seq_len):
    return torch.tril(torch.full((seq_len, seq_len), float("-inf")), diagonal=-1)
