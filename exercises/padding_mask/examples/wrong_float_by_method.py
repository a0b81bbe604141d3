# verdict: loses shapes
"""Zeros and ones as floating-point numbers, by a method that asks for float32."""


def create_padding_mask(seq, pad_idx=0):
    mask = (seq == pad_idx).float()
    mask = 1 - mask
    return mask.unsqueeze(1).unsqueeze(1)
