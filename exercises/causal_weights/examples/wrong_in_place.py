# verdict: loses numerics
# What the caller handed over is overwritten.
# Overwrites what it was given, which is bad manners and no more.
import torch


def causal_attention_weights(scores, d_k):
    future = torch.ones_like(scores, dtype=torch.bool).triu_(1)
    scores.masked_fill_(future, float("-inf"))
    scores.div_(d_k**0.5)
    return scores.softmax(-1)
