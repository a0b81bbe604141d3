"""Padding mask: which tokens may be attended to."""

import torch


def create_padding_mask(seq, pad_idx=0):
    # seq: (batch, key), token ids
    raise NotImplementedError("write your answer here")
    # return (batch, 1, 1, key), bool: True where there is a word, False where there is padding
