# verdict: loses masking
# diagnosis: minus_ten_thousand
import torch

def create_causal_mask(seq_len):
    m = torch.zeros(seq_len, seq_len)
    m[torch.triu(torch.ones(seq_len, seq_len), 1) == 1] = -10000.0
    return m
