# verdict: loses shapes
# diagnosis: bools
import torch
def create_causal_mask(seq_len):
    return torch.tril(torch.ones(seq_len, seq_len)).bool()
