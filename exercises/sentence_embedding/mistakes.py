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
    """You leave the commas in.

    "short," with its comma is another word than "short": it may sort elsewhere, and a comma with space on both sides
    becomes a word of its own. What `replace` returns is a new string; the old one stays as it was.
    """
    return sentence


@mistake(replaces="clean", dimension="shapes")
def commas_become_spaces(sentence: str) -> str:
    """You put a space where a comma was.

    That cuts "1,000" in two, and your sentence then has a word too many. The commas are dropped: nothing takes their
    place.
    """
    return sentence.replace(",", " ")


@mistake(replaces="clean", dimension="numerics")
def first_comma_only(sentence: str) -> str:
    """You drop the first comma and leave the others.

    A sentence may have several. Look at the arguments of your `replace`, or at a `break` in your loop.
    """
    return sentence.replace(",", "", 1)


@mistake(replaces="clean", dimension="numerics")
def commas_within_words_left(sentence: str) -> str:
    """You leave the commas in that stand within a word.

    "1,000" sorts before "10", and "1000" after it. `strip` looks at the ends of a word only; every comma is dropped.
    """
    return " ".join(word.strip(",") for word in sentence.split())


@mistake(replaces="clean", dimension="numerics")
def all_punctuation_dropped(sentence: str) -> str:
    """You drop other punctuation along with the commas.

    "can't" becomes "cant", which sorts elsewhere. Here commas are dropped, and nothing else.
    """
    return re.sub(r"[^\w\s]", "", sentence)


@mistake(replaces="clean", dimension="numerics")
def full_stop_dropped(sentence: str) -> str:
    """You drop the full stop along with the commas.

    "end." with its full stop sorts after "end-all", and "end" before it. Here commas are dropped, and nothing else.
    """
    return sentence.replace(",", "").replace(".", "")


@mistake(replaces="cut", dimension="shapes")
def cut_at_single_spaces(text: str) -> list[str]:
    """You cut at every single space, and nowhere else.

    Two spaces in a row then have an empty word between them, and words with a tab or a new line between them stay one.
    What does `split` take for a separator when it is told none?
    """
    return text.split(" ")


@mistake(replaces="cut", dimension="shapes")
def empty_words_left_out(text: str) -> list[str]:
    """You cut at spaces alone.

    Words may have a tab or a new line between them as well; yours stay in one piece there. What does `split` take for a
    separator when it is told none?
    """
    return [word for word in text.split(" ") if word]


@mistake(replaces="cut", dimension="shapes")
def cut_into_letters(text: str) -> list[str]:
    """You number letters, not words.

    A loop over a string, or `sorted` of one, gives its characters. Where do you cut the sentence into words?
    """
    return list(text)


@mistake(replaces="cut", dimension="shapes")
def cut_at_punctuation(text: str) -> list[str]:
    """You cut words at every sign that is no letter.

    "can't" becomes two words, and so does "end-all". A word is what stands between white space, whatever is in it.
    """
    return re.findall(r"\w+", text)


@mistake(replaces="vocabulary", dimension="numerics")
def numbered_as_they_come(words: list[str]) -> list[str]:
    """You return the first rows of the table as they stand, 0, 1, 2, ….

    Either your words have the numbers of their places in the sentence, where their places among the *sorted* words are
    asked for; or your rows follow the sorted words, where the order of the sentence is asked for.
    """
    return words


@mistake(replaces="vocabulary", dimension="numerics")
def case_ignored(words: list[str]) -> list[str]:
    """You sort as if there were no capitals.

    Python sorts capitals before small letters, "Life" before "dessert". Look for a `lower` or a key: the words are
    taken and sorted as they stand.
    """
    return sorted(words, key=str.lower)


@mistake(replaces="vocabulary", dimension="numerics")
def sorted_downwards(words: list[str]) -> list[str]:
    """You sort the words from the last to the first.

    The word that Python sorts first has id 0. In yours it has the highest.
    """
    return sorted(words, reverse=True)


@mistake(replaces="vocabulary", dimension="numerics")
def sorted_by_length(words: list[str]) -> list[str]:
    """You sort the words by their length.

    Sort them as Python sorts strings, by their letters. Look at the key of your `sorted`.
    """
    return sorted(words, key=len)


@mistake(replaces="number", dimension="numerics")
def ids_from_one(words: list[str], known: list[str]) -> list[int]:
    """Your ids begin at 1.

    The word that is sorted first has id 0, so that row 0 of the table is used. All of yours are one row too far down.
    """
    return [known.index(word) + 1 for word in words]


@mistake(replaces="number", dimension="numerics")
def places_in_the_sentence(words: list[str], known: list[str]) -> list[int]:
    """You look up where each sorted word stands in the sentence.

    That is the reverse of what is asked: for each word of the *sentence*, in its order, its place among the *sorted*
    words. Which of the two lists do you walk through, and in which do you look?
    """
    return [words.index(word) for word in known]


@mistake(replaces="number", dimension="numerics")
def rows_from_behind(words: list[str], known: list[str]) -> list[int]:
    """Your output follows the sentence backwards.

    Each word has its right row, but the last one comes first. Look for a `reverse`, or a list that grows at its front.
    """
    return [known.index(word) for word in reversed(words)]


@mistake(replaces="SentenceEmbedding.read", dimension="numerics")
def keeps_the_first_words(self: Any, sentence: str) -> list[int]:
    """Your module remembers the words of the first sentence.

    The next one is numbered by them. Every sentence has a vocabulary of its own: build it anew in each call.
    """
    words = sentence.replace(",", "").split()
    self.known = getattr(self, "known", sorted(words))
    return [self.known.index(word) for word in words]


@mistake(replaces="SentenceEmbedding.read", dimension="numerics")
def gathers_words(self: Any, sentence: str) -> list[int]:
    """Your module gathers the words of all sentences that it has seen.

    The ids of a sentence then depend on those before it. Every sentence has a vocabulary of its own: build it anew in
    each call.
    """
    words = sentence.replace(",", "").split()
    self.known = sorted({*getattr(self, "known", ()), *words})
    return [self.known.index(word) for word in words]


@mistake(replaces="look_up", dimension="gradients")
def cut_off(ids: Tensor, embedding: nn.Embedding) -> Tensor:
    """No gradient reaches your table.

    The rows are the right ones, and would stay for ever what they are by chance. Look for `detach()`, `.data`,
    `torch.no_grad()`, a table that is frozen, or a tensor that is made anew from the rows.
    """
    return embedding(ids).detach()


@mistake(replaces="look_up", dimension="gradients")
def first_row_never_learns(ids: Tensor, embedding: nn.Embedding) -> Tensor:
    """Row 0 of your table never learns.

    `padding_idx=0` tells the table that id 0 is no word, and its gradient is thrown away. Here id 0 is the word that is
    sorted first.
    """
    return F.embedding(ids, embedding.weight, padding_idx=0)


@mistake(replaces="look_up", dimension="numerics")
def cut_to_length_one(ids: Tensor, embedding: nn.Embedding) -> Tensor:
    """Your table shortens its rows.

    With `max_norm=1` every row that is longer is cut to length 1, and stays so. The rows are returned as they are.
    """
    return F.embedding(ids, embedding.weight, max_norm=1.0)


@mistake(replaces="look_up", dimension="numerics")
def passed_through_an_average(ids: Tensor, embedding: nn.Embedding) -> Tensor:
    """You take the mean of the whole table off each row.

    Then every row of the table has a part in every word, and learns from sentences that it is not in. A word's vector
    is its own row, unchanged.
    """
    return embedding(ids) - embedding.weight.mean(dim=0)


@mistake(replaces="hand_back", dimension="numerics")
def scaled_by_the_root(rows: Tensor) -> Tensor:
    """You multiply the rows by √d_model.

    The Transformer does that where positions are added afterwards. It is not asked for here: return the rows as they
    are.
    """
    return rows * math.sqrt(rows.shape[-1])


@mistake(replaces="hand_back", dimension="numerics")
def made_unit_length(rows: Tensor) -> Tensor:
    """You divide each row by its length.

    All your vectors have length one. Return the rows as they are.
    """
    return F.normalize(rows, dim=-1)


@mistake(replaces="hand_back", dimension="shapes")
def averaged_over_the_words(rows: Tensor) -> Tensor:
    """You return one vector for the whole sentence.

    Attention needs a vector for each word. Yours are averaged, or added up, so the axis of the words is gone.
    """
    return rows.mean(dim=0)


@mistake(replaces="hand_back", dimension="shapes")
def with_a_batch(rows: Tensor) -> Tensor:
    """You put an axis for a batch in front.

    One sentence goes in, and (words, d_model) comes out. Look for an `unsqueeze`, or for ids in double brackets.
    """
    return rows.unsqueeze(0)


@mistake(replaces="hand_back", dimension="shapes")
def squeezed(rows: Tensor) -> Tensor:
    """A sentence of a single word loses its axis.

    `squeeze` takes away every axis of size 1, the words' as well. One word gives (1, d_model).
    """
    return rows.squeeze()


@mistake(replaces="hand_back", dimension="shapes")
def turned_over(rows: Tensor) -> Tensor:
    """Your table lies on its side, (d_model, words).

    Each word has a row, not a column. Look for a transpose, or a stack along the wrong axis.
    """
    return rows.T


@mistake(replaces="hand_back", dimension="shapes")
def one_number_for_each_word(rows: Tensor) -> Tensor:
    """You return one number for each word, not a row.

    The ids of the words are the step before: each of them picks a row of `embedding`, which has d_model numbers.
    """
    return torch.zeros(rows.shape[0], dtype=torch.long)


@mistake(replaces="SentenceEmbedding.read", dimension="numerics")
def keeps_the_first_vocabulary(self: Any, sentence: str) -> list[int]:
    """You keep the vocabulary of the first sentence.

    Every sentence has a vocabulary of its own, made anew in each call. Words that yours does not know all get id 0.
    """
    words = sentence.replace(",", "").split()
    self.first_vocabulary = getattr(self, "first_vocabulary", None) or {w: i for i, w in enumerate(sorted(words))}
    return [self.first_vocabulary.get(word, 0) for word in words]


@mistake(replaces="SentenceEmbedding.read", dimension="numerics")
def numbers_go_on(self: Any, sentence: str) -> list[int]:
    """Your numbers go on from sentence to sentence.

    New words get the next free ids, so the ids of a sentence depend on those before it. Every sentence has a vocabulary
    of its own, which begins at 0.
    """
    words = sentence.replace(",", "").split()
    self.numbers = getattr(self, "numbers", {})
    for word in sorted(words):
        self.numbers.setdefault(word, len(self.numbers))
    return [self.numbers[word] for word in words]
