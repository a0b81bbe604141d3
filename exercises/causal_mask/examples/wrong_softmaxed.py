# verdict: loses numerics
# diagnosis: weights_for_a_mask
import torch

def create_causal_mask(seq_len):
    mask = torch.full((seq_len, seq_len), float("-inf"))
    return torch.softmax(torch.triu(mask, diagonal=1), dim=-1)
