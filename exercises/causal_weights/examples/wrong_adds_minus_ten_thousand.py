# verdict: loses masking
# -10000 is enough only while no hidden score is that far above the visible ones.
"""Positions compared with each other, and another name for d_k."""

from math import sqrt

import torch
from torch import nn

softmax = nn.Softmax(dim=-1)


def causal_attention_weights(attn_scores, dim_k):
    position = torch.arange(attn_scores.shape[-1])
    hidden = position[None, :] > position[:, None]
    masked = attn_scores + hidden * -10000.0
    return softmax(masked / sqrt(dim_k))
