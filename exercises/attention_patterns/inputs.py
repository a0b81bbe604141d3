"""The trained model's weights, sentences for its input, and attention heads to classify."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from grader.box.plan import Holding, Weight
from grader.exercise.inputs import Case
from grader.exercise.labs.attention_patterns.lab import Reader
from grader.exercise.weights import initial_weights

TRAINED = Path(__file__).parent / "model.safetensors"
SIZES = {"vocab_size": 12, "width": 24, "num_heads": 3, "num_layers": 2, "time": 12}  # of the trained model
PATTERNS = ("previous", "next", "self", "first", "uniform")
THIRD = 0.345  # with 0.96 or more in another query, the mean is above 0.65
BOLD = 8.0  # factor on an untrained model's queries, so that its heads are not all uniform


def trained(case: Case, generator: torch.Generator) -> Case:
    """Use the trained weights, and sentences in which no word occurs twice."""
    weights = tuple(
        Weight(f"model.{name}", value.double(), holding=Holding.EXACT) for name, value in load_file(TRAINED).items()
    )
    return replace(case, weights=weights, arguments={**case.arguments, "tokens": _sentences(case, generator)})


def _sentences(case: Case, generator: torch.Generator) -> Tensor:
    rows, words = _tensor(case, "tokens").shape
    shuffled = [torch.randperm(SIZES["vocab_size"], generator=generator)[:words] for _ in range(rows)]
    return torch.stack(shuffled)


def untrained(case: Case, generator: torch.Generator) -> Case:
    """Draw the weights of a model of other sizes."""
    drawn = initial_weights(Reader(**case.construct), generator, prefix="model.")  # type: ignore[arg-type]  # all of them whole numbers
    bold = (replace(w, matrix=w.matrix * BOLD) if "W_query" in w.name else w for w in drawn)
    return replace(case, weights=tuple(bold))


def clear(case: Case, generator: torch.Generator) -> Case:
    """Make heads that each give nearly all of their weight to one pattern, in random order."""
    return _heads(case, generator, strength=(0.96, 0.99))


def noisy(case: Case, generator: torch.Generator) -> Case:
    """Make heads that give between 0.68 and 0.85 of their weight to their pattern, and spread the rest at random.

    Every second head gives nearly all in some queries and a little less than half in most: its mean names it, and its
    median would not.
    """
    made = _heads(case, generator, strength=(0.68, 0.85))
    weights = _tensor(made, "weights")
    heads, words = weights.shape[:2]
    share, key = weights.max(dim=-1, keepdim=True)
    aims = torch.full_like(share, 0.47)
    few = (words - 3) // 2
    for head in range(heads):
        aims[head, 2 + torch.randperm(words - 3, generator=generator)[:few]] = 0.99
    uneven = (weights * (1 - aims) / (1 - share)).scatter(-1, key, aims)
    second = (torch.arange(heads) % 2 == 1)[:, None, None] & (share > 0.5)
    return replace(made, arguments={**made.arguments, "weights": torch.where(second, uneven, weights)})


def edges(case: Case, generator: torch.Generator) -> Case:
    """Make clear heads whose first two and last queries, which do not count, attend to no pattern's key."""
    made = _heads(case, generator, strength=(0.96, 0.99))
    weights = _tensor(made, "weights")
    anywhere = _noise(weights.shape, generator, spread=3.0)
    words = weights.shape[-1]
    for query in (0, 1, words - 1):
        stray = anywhere[:, query]
        stray[:, [0, max(query - 1, 0), query, min(query + 1, words - 1)]] = 0.0
        weights[:, query] = stray / stray.sum(dim=-1, keepdim=True)
    return replace(made, arguments={**made.arguments, "weights": weights})


def edges_of_a_few(case: Case, generator: torch.Generator) -> Case:
    """Make such heads of five words, in which each of the two queries that count gives half of the heads their name.

    One of them gives nearly all to the pattern, the other a third. With one query more, or with one less, the mean is
    below one half.
    """
    made = edges(case, generator)
    weights = _tensor(made, "weights")
    for head, table in enumerate(weights):
        weak = table[2 + head % 2]
        key = int(weak.argmax())
        weak *= (1 - THIRD) / (1 - weak[key])
        weak[key] = THIRD
    return replace(made, arguments={**made.arguments, "weights": weights})


def faint(case: Case, generator: torch.Generator) -> Case:
    """Make heads whose strongest pattern gets less than one half: a quarter, or in every second head nearly 0.47."""
    made = _heads(case, generator, strength=(0.24, 0.27), patterns=PATTERNS[:-1])
    nearly = _tensor(_heads(case, generator, strength=(0.4, 0.42), patterns=PATTERNS[:-1]), "weights")
    second = (torch.arange(len(nearly)) % 2 == 1)[:, None, None]
    weights = torch.where(second, nearly, _tensor(made, "weights"))
    return replace(made, arguments={**made.arguments, "weights": weights})


def half(case: Case, generator: torch.Generator) -> Case:
    """Make heads that give exactly one half to one pattern in each query, and an eighth to each of four other words.

    These numbers have no rounding errors in any precision, nor have their means.
    """
    words = _tensor(case, "weights").shape[-1]
    tables = torch.zeros(len(PATTERNS) - 1, words, words, dtype=torch.float64)
    for query in range(words):
        keys = (query - 1, query + 1, query, 0)
        others = [key for key in torch.randperm(words, generator=generator).tolist() if key not in keys]
        tables[:, query, others[:4]] = 0.125
        for table, key in zip(tables, keys, strict=True):
            table[query, key % words] += 0.5
    return replace(case, arguments={**case.arguments, "weights": tables}, wants=())


def elsewhere(case: Case, generator: torch.Generator) -> Case:
    """Make clear heads with other patterns: the second word, the last one, two words back, two words ahead."""
    heads, words = _tensor(case, "weights").shape[:2]
    places = torch.arange(words)
    habits = (torch.ones_like(places), torch.full_like(places, words - 1), (places - 2) % words, (places + 2) % words)
    keys = torch.stack([habits[head % len(habits)] for head in range(heads)])
    looks = torch.nn.functional.one_hot(keys, words).double()
    weights = 0.9 * looks + 0.1 * _noise((heads, words, words), generator, spread=0.5)
    return replace(case, arguments={**case.arguments, "weights": weights}, wants=())


def causal(case: Case, generator: torch.Generator) -> Case:
    """Make clear causal heads; the uniform one is uniform over the keys that it sees."""
    made = _heads(case, generator, strength=(0.96, 0.99), patterns=("previous", "self", "first", "uniform"))
    weights = _tensor(made, "weights").tril()
    return replace(made, arguments={**made.arguments, "weights": weights / weights.sum(dim=-1, keepdim=True)})


def own(case: Case, generator: torch.Generator) -> Case:
    """Use the attention weights of the trained model on one sentence."""
    words = _tensor(case, "weights").shape[-1]
    model = Reader(**SIZES).double()
    model.load_state_dict({name: value.double() for name, value in load_file(TRAINED).items()})
    found: list[Tensor] = []
    for layer in model.layers:
        layer.attention.register_forward_hook(lambda _module, _inputs, output: found.append(output[1]))  # type: ignore[union-attr, operator]
    with torch.no_grad():
        model(torch.randperm(SIZES["vocab_size"], generator=generator)[None, :words])
    return replace(case, arguments={**case.arguments, "weights": torch.cat(found, dim=1)[0]}, wants=())


def _heads(
    case: Case,
    generator: torch.Generator,
    *,
    strength: tuple[float, float],
    patterns: tuple[str, ...] = PATTERNS,
) -> Case:
    heads, words = _tensor(case, "weights").shape[:2]
    order = torch.randperm(max(heads, len(patterns)), generator=generator)[:heads].tolist()
    low, high = strength
    share = low + (high - low) * torch.rand(heads, 1, 1, generator=generator, dtype=torch.float64)
    plain = torch.stack([_pattern(patterns[place % len(patterns)], words) for place in order])
    weights = share * plain + (1 - share) * _noise((heads, words, words), generator, spread=0.5)
    return replace(case, arguments={**case.arguments, "weights": weights}, wants=())


def _pattern(name: str, words: int) -> Tensor:
    """Return the weights of a head that only does `name`; where there is no such word, a query attends to itself."""
    if name == "uniform":
        return torch.full((words, words), 1 / words, dtype=torch.float64)
    places = torch.arange(words)
    keys = {"previous": places - 1, "next": places + 1, "self": places, "first": torch.zeros_like(places)}[name]
    keys = torch.where((keys < 0) | (keys >= words), places, keys)
    return torch.nn.functional.one_hot(keys, words).double()


def _noise(shape: tuple[int, ...], generator: torch.Generator, *, spread: float) -> Tensor:
    return torch.softmax(spread * torch.randn(shape, generator=generator, dtype=torch.float64), dim=-1)


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()
