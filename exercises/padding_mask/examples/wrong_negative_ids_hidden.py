# verdict: loses masking
import torch


def create_padding_mask(seq, pad_idx=0):
    if pad_idx == 0:
        return (seq > 0)[:, None, None, :]
    return (seq != pad_idx)[:, None, None, :]
