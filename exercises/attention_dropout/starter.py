"""Dropout on attention weights: drop weights at random, and scale up those that are kept."""

import torch


def attention_dropout(weights, p, training=True):
    # weights: (..., query, key); each row along the last axis adds up to one
    # p: probability of dropping a weight, from 0 to 1
    # training: drop only if true
    raise NotImplementedError("write your dropout here")
    # return a tensor with the shape and dtype of weights
