"""Causal mask: what is added to the scores so that nobody sees the future."""

import torch


def create_causal_mask(seq_len):
    # seq_len: an int
    raise NotImplementedError("write your answer here")
    # return (seq_len, seq_len): 0 where allowed, -inf where not
