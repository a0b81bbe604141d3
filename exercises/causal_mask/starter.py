"""Causal mask: it is added to the scores so that no position attends to the future."""

import torch


def create_causal_mask(seq_len):
    # seq_len: an int
    raise NotImplementedError("write your code here")
    # return (seq_len, seq_len): 0 where allowed, -inf where masked
