# verdict: loses numerics
# diagnosis: zero_times_infinity
import torch

def create_causal_mask(seq_len):
    return torch.triu(torch.ones(seq_len, seq_len), diagonal=1) * float("-inf")
