# verdict: loses masking
# diagnosis: minus_a_billion
import torch

def create_causal_mask(seq_len):
    return torch.ones(seq_len, seq_len).triu(1) * -1e9
