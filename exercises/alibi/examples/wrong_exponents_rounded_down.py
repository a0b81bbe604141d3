# verdict: loses numerics
import math

import torch


def slopes_of(heads):
    if math.log2(heads).is_integer():
        return [2.0 ** (-8 * (head + 1) // heads) for head in range(heads)]
    below = 2 ** int(math.log2(heads))
    return slopes_of(below) + slopes_of(2 * below)[0::2][: heads - below]


def alibi_bias(num_heads, seq_len):
    slopes = torch.tensor(slopes_of(num_heads))
    place = torch.arange(seq_len)
    distance = place[:, None] - place[None, :]
    bias = -slopes[:, None, None] * distance
    return bias.masked_fill(distance < 0, float("-inf"))
