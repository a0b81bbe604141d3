# verdict: full marks
import torch
def create_padding_mask(src, pad=0):
    return (src != pad).unsqueeze(-2).unsqueeze(1)
