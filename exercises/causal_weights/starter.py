"""Causal weights: from raw scores to weights that give the future nothing."""

import torch


def causal_attention_weights(scores, d_k):
    # scores: (..., time, time), plain dot products: a row for each query, a column for each key
    # d_k: how many numbers a query and a key have
    raise NotImplementedError("write your weights here")
    # return weights (..., time, time)
