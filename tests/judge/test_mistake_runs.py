"""Mistakes that are run in modules which were built before give what they give in modules of their own."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from grader.box.inline import observe_all
from grader.box.observations import Observations
from grader.exercise.catalog import Catalog
from grader.judge.explain.diagnosis import MistakeRuns
from grader.judge.sheet import draw_up

# Some mistakes of these move or freeze weights, some replace steps of constructors. The named ones are run, or all.
_NAMED = {
    "sentence_embedding": (),
    "weight_transfer": (),
    "learned_encoding": (),
    "attention_patterns": ("gradients_off_for_everybody", "columns_for_rows", "all_heads_alike"),
}


def _contents(observed: Observations) -> list[object]:
    """Return all that was seen, as it can be compared: NaN is like NaN."""
    calls = [
        (call.name, call.raised, call.modified, call.largest, key, seen.presence, seen.shape, seen.dtype, seen.what)
        for call in observed.calls.values()
        for key, seen in call.slots.items()
    ]
    tensors = [seen.tensor for call in observed.calls.values() for seen in call.slots.values()]
    return [observed.loading, dict(observed.builds), calls, *map(_bytes, tensors)]


def _bytes(tensor: Tensor | None) -> bytes | None:
    return None if tensor is None else tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


@pytest.mark.parametrize("name", _NAMED)
def test_a_mistake_in_shared_modules_gives_the_same(name: str, catalog: Catalog) -> None:
    """To the last bit, whatever the mistakes before it left in the modules."""
    exercise, plan = catalog[name], draw_up(catalog[name], 1).plan.untrained()
    chosen = [wrong for wrong in exercise.mistakes if wrong.name in (_NAMED[name] or {wrong.name})]
    runs = MistakeRuns(exercise, chosen, plan)
    assert len(chosen) >= 3
    for wrong in (*chosen, *reversed(chosen)):
        assert _contents(runs.observe(wrong)) == _contents(observe_all(plan, exercise.reference(wrong))), wrong.name


def test_marks_and_steps_of_constructors_are_noticed(catalog: Catalog) -> None:
    """A weight that was written, and one whose gradient was turned off, show; so does a step of a constructor."""
    moved, frozen, early = (catalog[name] for name in ("weight_transfer", "attention_patterns", "learned_encoding"))
    for exercise in (moved, frozen):
        runs = MistakeRuns(exercise, exercise.mistakes, draw_up(exercise, 1).plan.untrained())
        assert any(runs.examine(wrong)[1] for wrong in exercise.mistakes[:12]), exercise.id
    assert MistakeRuns(early, early.mistakes, draw_up(early, 1).plan.untrained()).early
