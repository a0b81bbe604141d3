# verdict: loses numerics
# diagnosis: softmax_over_heads
import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    attention = torch.nn.functional.softmax(scores, dim=1)  # was a 3-d tensor in the last exercise
    return torch.matmul(attention, value), attention
