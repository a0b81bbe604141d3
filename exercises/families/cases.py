"""Inputs that reveal mistakes which ordinary numbers hide, for modules with W_query, W_key and W_value.

An exercise's `inputs.py` uses one by assignment: `faint_key = cases.faint_key`. The sequence that gives queries and
keys is called `x`. If there are two, `x_1` or `query` gives the queries, and `x_2` or `key` the keys. All heads have
the same width.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.box.plan import Weight
from grader.exercise.inputs import Case

COMMON = 1_000.0  # added to all values; the random part of a value is around one
FAR = 10_000.0  # distance of scores from zero; its exponential overflows
DEPTH = 120_000.0  # scores are this far below zero: exponentials underflow; fills of -65504 and -100000 are higher
DEEPEST = 3e7  # the same for one query; a fill of -1e7 is higher, one of -1e9 is not
LOUD = 1e6  # above the visible scores: a fill value of -100000 is too weak against it, one of -1e9 is not
LOW = -20_000.0  # below a hidden score that was filled with -10,000; a fill of -1e9 still gets no weight
STRENGTH = 100.0  # of the coordinate of all queries that makes low scores
APART = 5_000.0  # of scores of one row; the exponential of half of it overflows
FAINT = 60.0  # below the other scores of its row; e^-60 and its inverse both exist in float32


def common_values(case: Case, generator: torch.Generator) -> Case:
    """Add the same large number to all values. If each row of weights adds up to one, the output grows by that number.

    The gradients of queries and keys do not depend on this number. If a row adds up to slightly less than one, these
    gradients have an error that is `COMMON` times as large. Requires a case without biases.
    """
    _, (answers, answering) = _sequences(case)
    answering[..., 0] = 1.0
    values = _matrix(case, "W_value")
    values[0] = COMMON
    return replace(
        case,
        arguments={**case.arguments, answers: answering},
        weights=case.with_matrix("W_value", values),
    )


def far_rows(case: Case, generator: torch.Generator) -> Case:
    """Shift all scores of a row by the same large amount, up or down; each row has a different amount.

    No weight changes. The exponentials of such scores are infinite or zero, and subtracting the largest score of all
    rows does not help the other rows. The shift comes from the first features of queries and keys. Requires d_in of at
    least 2, and no biases.
    """
    (asks, asking), (answers, answering) = _sequences(case)
    if asks == answers:
        answering = asking
    count, width = asking.shape[-2], _width(case)
    asking[..., 0] = (1.0 + torch.rand(count, generator=generator)) * (-1.0) ** torch.arange(count)
    answering[..., 1] = 1.0
    size = math.sqrt(FAR * math.sqrt(width))
    queries, keys = _matrix(case, "W_query"), _matrix(case, "W_key")
    queries[:, ::width], keys[:, ::width] = 0.0, 0.0
    queries[0, ::width], keys[1, ::width] = size, size
    case = replace(case, weights=case.with_matrix("W_query", queries))
    case = replace(case, weights=case.with_matrix("W_key", keys))
    return replace(case, arguments={**case.arguments, asks: asking, answers: answering})


def faint_key(case: Case, generator: torch.Generator) -> Case:
    """Give the second position a score `FAINT` below the others, and values so large that it still affects the output.

    This reveals code that clamps exponentials or scores. The score comes from the first features of queries and keys in
    each head. Requires d_in of at least 2, and no biases.
    """
    (asks, asking), (answers, answering) = _sequences(case)
    if asks == answers:
        answering = asking
    answering[..., 1] = 0.0
    answering[..., 1, 1] = 1.0
    asking[..., 0] = 1.0
    width = _width(case)
    size = math.sqrt(FAINT * math.sqrt(width))
    queries, keys, values = (_matrix(case, name) for name in ("W_query", "W_key", "W_value"))
    queries[:, ::width], keys[:, ::width] = 0.0, 0.0
    queries[0, ::width], keys[1, ::width] = size, -size
    values[1] *= math.exp(FAINT)
    for name, matrix in (("W_query", queries), ("W_key", keys), ("W_value", values)):
        case = replace(case, weights=case.with_matrix(name, matrix))
    return replace(case, arguments={**case.arguments, asks: asking, answers: answering})


def far_apart(case: Case, generator: torch.Generator) -> Case:
    """Let the second key score `APART` above most others, the third half of that, and the first as much below.

    Softmax that subtracts anything but the largest score of a row overflows, and limited scores come out equal. The
    first query scores all keys alike, and these three are visible for all from the third on: no hidden key outscores
    the visible ones, so a mask after the softmax is as good as one before. In a function, the scores come from the
    first feature of queries and keys; in a module, from the first input feature of the query side and the second of the
    key side, in each head.
    """
    (asks, asking), (answers, answering) = _sequences(case)
    width = _width(case) if case.weights else asking.shape[-1]
    size = math.sqrt(APART * math.sqrt(width))
    if asks == answers:
        answering = asking
    if case.weights:
        case, strength, feature = _first_feature_each(case, size), 1.0, 1
    else:
        strength, feature = size, 0
    asking[..., 0] = strength
    asking[..., 0, 0] = 0.0
    answering[..., feature] = 0.0
    answering[..., :3, feature] = strength * torch.tensor([-1.0, 1.0, 0.5], dtype=torch.float64)
    return replace(case, arguments={**case.arguments, asks: asking, answers: answering})


def _first_feature_each(case: Case, size: float) -> Case:
    """Make the first feature of each head that of the input alone: the first one for queries, the second for keys."""
    width, weights = _width(case), {weight.name: weight for weight in case.weights}
    for name, feature in (("W_query", 0), ("W_key", 1)):
        matrix, bias = weights[name].matrix.clone(), weights[name].bias
        matrix[:, ::width] = 0.0
        matrix[feature, ::width] = size
        if bias is not None:
            bias = bias.clone()
            bias[::width] = 0.0
        case = replace(case, weights=case.with_matrix(name, matrix, bias))
    return case


def sunken_scores(case: Case, generator: torch.Generator) -> Case:
    """Lower every score by the same large amount, which changes no weight: one feature of each head is constant.

    The exponential of such a score is zero, and a fill value such as -10 or -10000 is larger than it. Requires biases.
    """
    return sink(case, "")


def sink(case: Case, part: str) -> Case:
    """Do the same in the attention whose parameters are called `{part}W_query` and `{part}W_key`."""
    weights = {weight.name: weight for weight in case.weights}
    width = _width(case, part)
    level = math.sqrt(DEPTH * math.sqrt(width))
    for name, constant in ((f"{part}W_query", level), (f"{part}W_key", -level)):
        matrix, bias = weights[name].matrix.clone(), _bias(weights[name])
        matrix[:, ::width], bias[::width] = 0.0, constant
        case = replace(case, weights=case.with_matrix(name, matrix, bias))
    return case


def sunken_rows(case: Case, generator: torch.Generator) -> Case:
    """Lower all scores of a row by the same large amount, which changes no weight; each row has a different amount.

    In each head, queries have a feature that grows with the first feature of x, and keys have a constant one. The
    exponential of such a score is zero, a fill value such as -10 or -100000 is larger than it, and subtracting the
    largest score of all rows does not help the other rows. Requires biases.
    """
    x, width = _tensor(case, "x"), _width(case)
    x[..., 0] = 1.0 + torch.rand(x.shape[:-1], generator=generator)
    level = math.sqrt(DEPTH * math.sqrt(width))
    weights = {weight.name: weight for weight in case.weights}
    for name, factor, constant in (("W_query", level, 0.0), ("W_key", 0.0, -level)):
        matrix, bias = weights[name].matrix.clone(), _bias(weights[name])
        matrix[:, ::width] = 0.0
        matrix[0, ::width], bias[::width] = factor, constant
        case = replace(case, weights=case.with_matrix(name, matrix, bias))
    return replace(case, arguments={**case.arguments, "x": x})


def low_logits(case: Case, generator: torch.Generator) -> Case:
    """Add `LOW` to every logit, through one coordinate that all queries and all keys have in common.

    No weight changes by that, but a hidden score that was filled with -10,000 is now the largest of its row, and a peak
    that begins at zero leaves only exponentials that are zero.
    """
    return lowered(case, LOW)


def low_logits_by_head(case: Case, generator: torch.Generator) -> Case:
    """Add `LOW` to every logit of head 0, twice that in head 1, and so on; see `low_logits`.

    An exponential with one shift for all heads is then zero as well.
    """
    heads = _tensor(case, "query").shape[1]
    return lowered(case, LOW * (1 + torch.arange(heads, dtype=torch.float64))[:, None])


def lowered(case: Case, level: float | Tensor) -> Case:
    """Add `level` to every logit of `query` and `key`; a tensor broadcasts to (..., keys)."""
    query, key = _tensor(case, "query"), _tensor(case, "key")
    query[..., 0] = STRENGTH
    key[..., 0] = level * math.sqrt(query.shape[-1]) / STRENGTH
    return replace(case, arguments={**case.arguments, "query": query, "key": key})


def deepest_first(case: Case, generator: torch.Generator) -> Case:
    """Put all scores of the first query at `DEEPEST`, and leave those of all others where they are.

    It gives all keys that it sees the same weight, whatever rounding does to such scores. A fill value of -1e7 is above
    them, one of -1e9 is not. In a function, the scores come from the first feature of queries and keys; in a module,
    from the first input feature of the query side and the second of the key side, in each head.
    """
    (asks, asking), (answers, answering) = _sequences(case)
    if asks == answers:
        answering = asking
    asking[..., 0] = 0.0
    if not case.weights:
        size = math.sqrt(DEEPEST * math.sqrt(asking.shape[-1]))
        asking[..., 0, :] = 0.0
        asking[..., 0, 0], answering[..., 0] = size, -size
        return replace(case, arguments={**case.arguments, asks: asking, answers: answering})
    asking[..., 0, 0], answering[..., 1] = 1.0, 1.0
    case = _first_feature_each(case, math.sqrt(DEEPEST * math.sqrt(_width(case))))
    case = replace(case, weights=case.with_matrix("W_key", -_matrix(case, "W_key")))
    return replace(case, arguments={**case.arguments, asks: asking, answers: answering})


def outscored(case: Case, generator: torch.Generator) -> Case:
    """Let a key score `LOUD` above the others where it is masked, by the case's mask or else by a causal one."""
    mask = case.arguments.get("mask")
    if mask is None:
        rows, keys = (sequence.shape[-2] for _, sequence in _sequences(case))
        mask = torch.ones(rows, keys, dtype=torch.bool).tril()
    assert isinstance(mask, Tensor)
    return outscored_where_hidden(case, mask if mask.dim() < 4 or not case.weights else mask[:, 0])


def outscored_where_hidden(case: Case, visible: Tensor) -> Case:
    """Let one key score `LOUD` above the others for queries that must not attend to it, and as far below for the rest.

    It is the key that is masked for the most queries. In a function, the scores come from the first feature of queries
    and keys; in a module, from the first input feature of the query side and the second of the key side, in each head.
    `visible` broadcasts to (..., rows, keys).
    """
    loud = int((~visible.bool()).sum(dim=tuple(range(visible.dim() - 1))).argmax())
    signs = torch.where(visible[..., loud].bool(), -1.0, 1.0).double()  # (..., rows)
    (asks, asking), (answers, answering) = _sequences(case)
    if not case.weights:
        size = math.sqrt(LOUD * math.sqrt(asking.shape[-1]))
        asking[..., 0], answering[..., 0] = signs * size, 0.0
        answering[..., loud, 0] = size
        return replace(case, arguments={**case.arguments, asks: asking, answers: answering})
    if asks == answers:
        answering = asking
    asking[..., 0], answering[..., 1] = signs, 0.0
    answering[..., loud, 1] = 1.0
    width = _width(case)
    for name, feature in (("W_query", 0), ("W_key", 1)):
        weight = next(weight for weight in case.weights if weight.name == name)
        matrix, bias = weight.matrix.clone(), None if weight.bias is None else weight.bias.clone()
        matrix[:, ::width] = 0.0
        matrix[feature, ::width] = math.sqrt(LOUD * math.sqrt(width))
        if bias is not None:
            bias[::width] = 0.0
        case = replace(case, weights=case.with_matrix(name, matrix, bias))
    return replace(case, arguments={**case.arguments, asks: asking, answers: answering})


def zero_scores(case: Case, generator: torch.Generator) -> Case:
    """Make the second token zero and remove the bias of the queries: that token's score is zero with every key."""
    (asks, asking), _ = _sequences(case)
    asking[..., 1, :] = 0.0
    weight = next(weight for weight in case.weights if weight.name == "W_query")
    weights = case.with_matrix("W_query", weight.matrix, torch.zeros_like(_bias(weight)))
    return replace(case, arguments={**case.arguments, asks: asking}, weights=weights)


def symmetric_weights(case: Case, generator: torch.Generator) -> Case:
    """Make every square projection symmetric, so that it does not matter whether a module stores it transposed."""
    for weight in case.weights:
        if weight.matrix.dim() == 2 and weight.matrix.shape[0] == weight.matrix.shape[1]:
            case = replace(case, weights=case.with_matrix(weight.name, (weight.matrix + weight.matrix.T) / 2))
    return case


def _sequences(case: Case) -> tuple[tuple[str, Tensor], tuple[str, Tensor]]:
    """Return name and copy of the sequence that gives the queries, then of the one that gives the keys."""
    pairs = (("x", "x"), ("x_1", "x_2"), ("query", "key"))
    names = next(pair for pair in pairs if pair[0] in case.arguments)
    asks, answers = ((name, _tensor(case, name)) for name in names)
    return asks, answers


def _tensor(case: Case, name: str) -> Tensor:
    value = case.arguments[name]
    assert isinstance(value, Tensor)
    return value.clone()


def _matrix(case: Case, name: str) -> Tensor:
    return next(weight.matrix.clone() for weight in case.weights if weight.name == name)


def _bias(weight: Weight) -> Tensor:
    assert weight.bias is not None, f"`{weight.name}` has no bias in this case"
    return weight.bias.clone()


def _width(case: Case, part: str = "") -> int:
    """Return the width of one head's queries and keys."""
    queries = next(weight for weight in case.weights if weight.name == f"{part}W_query")
    return queries.matrix.shape[1] // queries.heads
