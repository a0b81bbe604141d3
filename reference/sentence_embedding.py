"""From a sentence to vectors: one row of an embedding table for each word.

Notation: T words, d_model the width of an embedding.
Source: Bengio et al., A Neural Probabilistic Language Model (2003), section 2, where the table is the matrix C.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def clean(sentence: str) -> str:
    """Return the sentence without its commas."""
    return sentence.replace(",", "")


def cut(text: str) -> list[str]:
    """Split a text into words at whitespace."""
    return text.split()


def vocabulary(words: list[str]) -> list[str]:
    """Return the words in the order of their ids."""
    return sorted(words)


def number(words: list[str], known: list[str]) -> list[int]:
    """Return the id of each word: its index in the vocabulary, counted from 0."""
    ids = {word: place for place, word in enumerate(known)}
    return [ids[word] for word in words]


def look_up(ids: Tensor, embedding: nn.Embedding) -> Tensor:
    """Return a row of the table for each of the ids (T,), (T, d_model)."""
    return embedding(ids)


def hand_back(rows: Tensor) -> Tensor:
    """Return the result, (T, d_model)."""
    return rows


class SentenceEmbedding(nn.Module):
    """Turn a sentence into one vector for each of its words.

    Args:
        vocab_size: number of rows of the table, at least as many as a sentence has words.
        d_model: width of a row.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, sentence: str) -> Tensor:
        """Map a sentence of T words, none of them twice, to (T, d_model)."""
        return hand_back(look_up(torch.tensor(self.read(sentence)), self.embedding))

    def read(self, sentence: str) -> list[int]:
        """Return the id of each word of the sentence."""
        words = cut(clean(sentence))
        return number(words, vocabulary(words))
