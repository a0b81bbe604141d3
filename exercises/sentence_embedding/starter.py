"""Sentence embedding: a vector for each word of a sentence."""

import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        # Create the table here, an nn.Embedding called `embedding`: vocab_size rows, d_model columns.

    def forward(self, sentence):
        # sentence: a string, "Life is short, eat dessert first"
        raise NotImplementedError("write your answer here")
        # return (words, d_model): a row of the table for each word, in the sentence's order
