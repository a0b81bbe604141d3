# verdict: loses numerics
# diagnosis: softmax_over_queries
import torch


def simple_attention(x):
    attn_scores = x @ x.T
    attn_weights = torch.softmax(attn_scores, dim=0)
    return attn_weights @ x, attn_weights
