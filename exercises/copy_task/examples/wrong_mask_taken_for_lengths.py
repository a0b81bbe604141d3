# verdict: loses masking
# diagnosis: mask_taken_for_lengths
import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        valid_lens = mask.long().sum(dim=-1, keepdim=True)
        seen = torch.arange(scores.size(-1), device=scores.device) < valid_lens
        scores = scores.masked_fill(~seen, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
