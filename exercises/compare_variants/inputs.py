"""A pair of made-up languages, the same for every variant, and masks and logits that expose common mistakes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from grader.box.plan import Entry, Kind, Weight
from grader.box.train import FIRST_WORD, PAD
from grader.exercise.drawing import generator as generator_of
from grader.exercise.families import cases
from grader.exercise.inputs import Case
from grader.exercise.labs.compare_variants.lab import Translator
from grader.exercise.weights import initial_weights

outscored = cases.outscored
deepest_first = cases.deepest_first

TABLES = ("model.source", "model.target")
CALM = (
    0.6  # embeddings begin smaller than usual: with large ones, unscaled products saturate the softmax before training
)
SHORTEST, LONGEST = 3, 8  # words of a sentence that is trained on; held-out ones may be as long as the case's `time`

low_logits = cases.low_logits


def sentences(case: Case, generator: torch.Generator) -> Case:
    """Draw a dictionary, sentences to train on, sentences held out, and the weights that the translator begins with.

    Only the attention's own weights depend on the case, so the variants begin alike and have the same task.
    """
    words = _size(case, "words")
    dictionary = FIRST_WORD + torch.randperm(words, generator=generator_of(case.seed, "dictionary"))
    source = _trained(case, generator_of(case.seed, "sentences"))
    held = _held(case, generator_of(case.seed, "held-out sentences"))
    arguments = {
        "source": source,
        "target": translate(source, dictionary),
        "held_source": held,
        "held_target": translate(held, dictionary),
        "alignment": alignment(int((held[0] != PAD).sum())),
    }
    return replace(case, arguments={**case.arguments, **arguments}, weights=_weights(case))


def translate(source: Tensor, dictionary: Tensor) -> Tensor:
    """Return sentences in the other language: translated word by word, with the first word moved to the end."""
    lengths = (source != PAD).sum(dim=-1, keepdim=True)
    places = torch.arange(source.shape[-1]).expand_as(source)
    taken = torch.where(places < lengths - 1, places + 1, 0)
    moved = source.gather(-1, taken)
    known = dictionary[(moved - FIRST_WORD).clamp(min=0)]
    return torch.where(places < lengths, known, PAD)


def alignment(length: int) -> Tensor:
    """Return which source word each word of a translation comes from, one-hot rows, (length, length)."""
    return torch.eye(length, dtype=torch.float64).roll(1, dims=1)


def _trained(case: Case, generator: torch.Generator) -> Tensor:
    """Return tokens (chunks, steps, batch, time); all sentences of a batch have the same length."""
    shape = tuple(_size(case, name) for name in ("chunks", "steps", "batch", "time"))
    tokens = torch.randint(_size(case, "words"), shape, generator=generator) + FIRST_WORD
    lengths = torch.randint(SHORTEST, LONGEST + 1, (*shape[:2], 1, 1), generator=generator)
    return torch.where(torch.arange(shape[-1]) < lengths, tokens, PAD)


def _held(case: Case, generator: torch.Generator) -> Tensor:
    """Return tokens (held, time): one sentence to show, without a repeated word, then equally many of each length."""
    held, time, words = (_size(case, name) for name in ("held", "time", "words"))
    tokens = torch.randint(words, (held, time), generator=generator) + FIRST_WORD
    tokens[0] = torch.randperm(words, generator=generator)[:time] + FIRST_WORD
    lengths = SHORTEST + (torch.arange(held) - 1) % (time - SHORTEST + 1)
    lengths[0] = _size(case, "shown")
    return torch.where(torch.arange(time) < lengths[:, None], tokens, PAD)


class _Stand(nn.Module):
    """Takes the place of the submission's module."""

    def __init__(self, **_sizes: int) -> None:
        super().__init__()


def _weights(case: Case) -> tuple[Weight, ...]:
    sizes: dict[str, Any] = {**case.construct}
    known = tuple(name for name in ("encoder_dim", "decoder_dim", "attention_dim") if name in sizes)
    found = (lambda: None) if "products" in case.name else _Stand
    model = Translator(found, Entry("", Kind.TRAIN, (), known), **sizes)
    drawn = initial_weights(model, generator_of(case.seed, "translator"), prefix="model.")
    common = (replace(w, matrix=CALM * w.matrix) if w.name.startswith(TABLES) else w for w in drawn)
    return (*common, *_own_weights(case, sizes))


def _own_weights(case: Case, sizes: dict[str, Any]) -> tuple[Weight, ...]:
    """Return the initial weights of the submission's module, by the names of the exercise."""
    draw, encoder, decoder = generator_of(case.seed, case.name), sizes["encoder_dim"], sizes["decoder_dim"]
    hidden = sizes.get("attention_dim", 0)
    shapes = {
        "products": {},
        "additive": {"W1": (encoder, hidden), "W2": (decoder, hidden), "v": (hidden, 1)},
        "multiplicative": {"W": (encoder, decoder)},
    }[case.name.removeprefix("train_")]
    return tuple(
        Weight(
            f"model.attention.attention.{name}",
            torch.randn(shape, generator=draw, dtype=torch.float64) / math.sqrt(3 * shape[0]),
            either=name == "W",
        )
        for name, shape in shapes.items()
    )


def _size(case: Case, name: str) -> int:
    size = case.sizes[name]
    assert isinstance(size, int)
    return size


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()
