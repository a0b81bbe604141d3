"""ALiBi: a bias that lowers the score of a key in proportion to its distance."""

import torch


def alibi_bias(num_heads, seq_len):
    # num_heads, seq_len: ints
    raise NotImplementedError("write your code here")
    # return (num_heads, seq_len, seq_len): -slope * (i - j), and -inf for the future
