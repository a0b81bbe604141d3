# verdict: loses shapes
import torch

_mask = None

def create_causal_mask(seq_len):
    global _mask
    if _mask is None:
        _mask = torch.triu(torch.full((seq_len, seq_len), float("-inf")), diagonal=1)
    return _mask
