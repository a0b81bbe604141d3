"""Dropout on attention weights: cut connections at random, and scale up those that stay."""

import torch


def attention_dropout(weights, p, training=True):
    # weights: any shape, each row along the last axis adds up to one
    # p: probability of dropping a weight, from 0 to 1
    # training: drop only if it is true
    raise NotImplementedError("write your dropout here")
    # return a tensor like weights
