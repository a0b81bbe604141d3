"""What students get wrong between a sentence and its embeddings."""

from __future__ import annotations

import math
import re
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from grader.exercise.mistakes import mistake


@mistake(replaces="clean", dimension="numerics")
def commas_left(sentence: str) -> str:
    """You do not delete the commas.

    "short," with its comma is a different word from "short", and may have a different place when sorted. A comma with
    whitespace on both sides becomes a word. Note that `replace` returns a new string and does not change the old one.
    """
    return sentence


@mistake(replaces="clean", dimension="shapes")
def commas_become_spaces(sentence: str) -> str:
    """You replace commas with spaces.

    That splits "1,000" into two words, so your sentence has one word too many. Delete the commas without inserting
    anything.
    """
    return sentence.replace(",", " ")


@mistake(replaces="clean", dimension="numerics")
def first_comma_only(sentence: str) -> str:
    """You delete only the first comma.

    A sentence may have several. Check the arguments of your `replace`, or a `break` in your loop.
    """
    return sentence.replace(",", "", 1)


@mistake(replaces="clean", dimension="numerics")
def commas_within_words_left(sentence: str) -> str:
    """You do not delete commas within words.

    "1,000" sorts before "10", but "1000" sorts after it. `strip` removes characters only at the ends of a word; delete
    every comma.
    """
    return " ".join(word.strip(",") for word in sentence.split())


@mistake(replaces="clean", dimension="numerics")
def all_punctuation_dropped(sentence: str) -> str:
    """You delete other punctuation as well as commas.

    "can't" becomes "cant", which has a different place when sorted. Delete only the commas.
    """
    return re.sub(r"[^\w\s]", "", sentence)


@mistake(replaces="clean", dimension="numerics")
def full_stop_dropped(sentence: str) -> str:
    """You delete the full stop as well as commas.

    "end." sorts after "end-all", but "end" sorts before it. Delete only the commas.
    """
    return sentence.replace(",", "").replace(".", "")


@mistake(replaces="cut", dimension="shapes")
def cut_at_single_spaces(text: str) -> list[str]:
    """You split at every single space, and nowhere else.

    Two spaces in a row then give an empty word, and words separated by a tab or a newline are not split. What is the
    separator of `split` when you call it without an argument?
    """
    return text.split(" ")


@mistake(replaces="cut", dimension="shapes")
def empty_words_left_out(text: str) -> list[str]:
    """You split only at spaces.

    Words may also be separated by a tab or a newline. What is the separator of `split` when you call it without an
    argument?
    """
    return [word for word in text.split(" ") if word]


@mistake(replaces="cut", dimension="shapes")
def cut_into_letters(text: str) -> list[str]:
    """You number letters, not words.

    Iterating over a string, or sorting it, gives its characters. Split the sentence into words first.
    """
    return list(text)


@mistake(replaces="cut", dimension="shapes")
def cut_at_punctuation(text: str) -> list[str]:
    """You split words at punctuation.

    "can't" becomes two words, and so does "end-all". Split at whitespace only.
    """
    return re.findall(r"\w+", text)


@mistake(replaces="vocabulary", dimension="numerics")
def numbered_as_they_come(words: list[str]) -> list[str]:
    """You return the first rows of the table in order: 0, 1, 2, ….

    Either you number the words by their order in the sentence; use their index among the *sorted* words. Or you return
    the rows in the order of the sorted words; return them in the order of the sentence.
    """
    return words


@mistake(replaces="vocabulary", dimension="numerics")
def case_ignored(words: list[str]) -> list[str]:
    """You ignore upper case when sorting.

    Python sorts upper case before lower case, "Life" before "dessert". Look for a `lower`, or for a sort key: sort the
    words unchanged.
    """
    return sorted(words, key=str.lower)


@mistake(replaces="vocabulary", dimension="numerics")
def sorted_downwards(words: list[str]) -> list[str]:
    """You sort the words in descending order.

    The word that Python sorts first has id 0. In your code it has the highest id.
    """
    return sorted(words, reverse=True)


@mistake(replaces="vocabulary", dimension="numerics")
def sorted_by_length(words: list[str]) -> list[str]:
    """You sort the words by their length.

    Sort them as Python sorts strings. Check the `key` of your `sorted`.
    """
    return sorted(words, key=len)


@mistake(replaces="number", dimension="numerics")
def ids_from_one(words: list[str], known: list[str]) -> list[int]:
    """Your ids start at 1.

    The first of the sorted words has id 0 and uses row 0 of the table. All your rows are shifted by one.
    """
    return [known.index(word) + 1 for word in words]


@mistake(replaces="number", dimension="numerics")
def places_in_the_sentence(words: list[str], known: list[str]) -> list[int]:
    """You look up the index of each sorted word in the sentence.

    The task is the inverse: for each word of the *sentence*, in order, its index among the *sorted* words. Which list
    do you loop over, and in which do you search?
    """
    return [words.index(word) for word in known]


@mistake(replaces="number", dimension="numerics")
def rows_from_behind(words: list[str], known: list[str]) -> list[int]:
    """Your output is in reverse order.

    Each word has the right row, but the last word comes first. Look for a `reverse`, or for a list that you prepend to.
    """
    return [known.index(word) for word in reversed(words)]


@mistake(replaces="SentenceEmbedding.read", dimension="numerics")
def keeps_the_first_words(self: Any, sentence: str) -> list[int]:
    """Your module uses the words of the first sentence for every later one.

    Every sentence has its own vocabulary: build it again in each call.
    """
    words = sentence.replace(",", "").split()
    self.known = getattr(self, "known", sorted(words))
    return [self.known.index(word) for word in words]


@mistake(replaces="SentenceEmbedding.read", dimension="numerics")
def gathers_words(self: Any, sentence: str) -> list[int]:
    """Your module collects the words of all sentences so far.

    The ids of a sentence then depend on earlier sentences. Every sentence has its own vocabulary: build it again in
    each call.
    """
    words = sentence.replace(",", "").split()
    self.known = sorted({*getattr(self, "known", ()), *words})
    return [self.known.index(word) for word in words]


@mistake(replaces="look_up", dimension="gradients")
def cut_off(ids: Tensor, embedding: nn.Embedding) -> Tensor:
    """No gradient reaches your table.

    The rows are right, but they would stay random forever. Look for `detach()`, `.data`, `torch.no_grad()`, a frozen
    table, or a new tensor made from the rows.
    """
    return embedding(ids).detach()


@mistake(replaces="look_up", dimension="gradients")
def first_row_never_learns(ids: Tensor, embedding: nn.Embedding) -> Tensor:
    """Row 0 of your table is never trained.

    With `padding_idx=0`, PyTorch treats id 0 as padding and gives its row no gradient. Here id 0 is the first of the
    sorted words.
    """
    return F.embedding(ids, embedding.weight, padding_idx=0)


@mistake(replaces="look_up", dimension="numerics")
def cut_to_length_one(ids: Tensor, embedding: nn.Embedding) -> Tensor:
    """Your table rescales its rows.

    With `max_norm=1`, every row with a larger norm is rescaled to norm 1, in place. Return the rows unchanged.
    """
    return F.embedding(ids, embedding.weight, max_norm=1.0)


@mistake(replaces="look_up", dimension="numerics")
def passed_through_an_average(ids: Tensor, embedding: nn.Embedding) -> Tensor:
    """You subtract the mean of the whole table from each row.

    Then every row of the table influences every word, and gets a gradient from sentences that do not use it. Return the
    rows unchanged.
    """
    return embedding(ids) - embedding.weight.mean(dim=0)


@mistake(replaces="hand_back", dimension="numerics")
def scaled_by_the_root(rows: Tensor) -> Tensor:
    """You multiply the rows by √d_model.

    The Transformer does that where it adds position encodings. Here return the rows unchanged.
    """
    return rows * math.sqrt(rows.shape[-1])


@mistake(replaces="hand_back", dimension="numerics")
def made_unit_length(rows: Tensor) -> Tensor:
    """You divide each row by its norm.

    All your vectors have length one. Return the rows unchanged.
    """
    return F.normalize(rows, dim=-1)


@mistake(replaces="hand_back", dimension="shapes")
def averaged_over_the_words(rows: Tensor) -> Tensor:
    """You return one vector for the whole sentence.

    Attention needs one vector for each word, (words, d_model): do not average the words, add them up, or pick one.
    """
    return rows.mean(dim=0)


@mistake(replaces="hand_back", dimension="shapes")
def with_a_batch(rows: Tensor) -> Tensor:
    """You add a batch axis.

    The output for one sentence is (words, d_model). Look for an `unsqueeze`, or for ids in double brackets.
    """
    return rows.unsqueeze(0)


@mistake(replaces="hand_back", dimension="shapes")
def squeezed(rows: Tensor) -> Tensor:
    """You remove the word axis of a sentence with a single word.

    `squeeze` removes every axis of size 1. A single word gives (1, d_model).
    """
    return rows.squeeze()


@mistake(replaces="hand_back", dimension="shapes")
def turned_over(rows: Tensor) -> Tensor:
    """Your output is transposed, (d_model, words).

    Each word has a row, not a column. Look for a transpose, or for a stack along the wrong axis.
    """
    return rows.T


@mistake(replaces="hand_back", dimension="shapes")
def one_number_for_each_word(rows: Tensor) -> Tensor:
    """You return the ids of the words instead of their rows.

    Use each id to look up a row of `embedding`, which has d_model numbers.
    """
    return torch.zeros(rows.shape[0], dtype=torch.long)


@mistake(replaces="SentenceEmbedding.read", dimension="numerics")
def keeps_the_first_vocabulary(self: Any, sentence: str) -> list[int]:
    """You keep the vocabulary of the first sentence.

    Every sentence has its own vocabulary, built in each call. In your code, words that are not in the first one all get
    id 0.
    """
    words = sentence.replace(",", "").split()
    self.first_vocabulary = getattr(self, "first_vocabulary", None) or {w: i for i, w in enumerate(sorted(words))}
    return [self.first_vocabulary.get(word, 0) for word in words]


@mistake(replaces="SentenceEmbedding.read", dimension="numerics")
def numbers_go_on(self: Any, sentence: str) -> list[int]:
    """Your ids continue from sentence to sentence.

    New words get the next free ids, so the ids of a sentence depend on earlier sentences. Every sentence has its own
    vocabulary, with ids from 0.
    """
    words = sentence.replace(",", "").split()
    self.numbers = getattr(self, "numbers", {})
    for word in sorted(words):
        self.numbers.setdefault(word, len(self.numbers))
    return [self.numbers[word] for word in words]
