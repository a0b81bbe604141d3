"""Sketches: what they leave of the known mistakes, and that what they leave out explains nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.box.inline import observe_all
from grader.checks.evidence import Evidence
from grader.exercise.catalog import Catalog, Exercise
from grader.exercise.mistakes import Mistake
from grader.judge.diagnosis import diagnose
from grader.judge.effort import Effort
from grader.judge.grade import observe_reference
from grader.judge.sheet import Sheet, draw_up
from grader.judge.sketches import Sketches, blank_sketches, sketch_all

_SEED = 3
_EXERCISES = ("softmax", "causal_mask", "self_attention_masked", "kv_cache", "attention_dropout")


@pytest.mark.parametrize("name", _EXERCISES)
def test_every_mistake_is_likely_where_it_was_made(catalog: Catalog, name: str) -> None:
    """A mistake on the whole plan, with gradients and variants, is among those that the sketches leave, and few are."""
    exercise = catalog[name]
    sheet = draw_up(exercise, _SEED)
    plan = sheet.plan.untrained()
    sketches = _sketched(exercise, sheet)
    missed, left = [], 0
    for wrong in exercise.mistakes:
        observed = observe_all(plan, exercise.reference(wrong))
        likely = sketches.likely(exercise.mistakes, observed, [call.name for call in plan.calls])
        left += len(likely)
        missed += [] if wrong in likely else [wrong.name]

    assert missed == []
    assert left < len(exercise.mistakes) ** 2 / 2


def test_sketches_of_another_seed_leave_no_mistake_that_shows(catalog: Catalog) -> None:
    """They hold numbers, not patterns: numbers of another seed are like nobody's."""
    exercise = catalog["softmax"]
    observed = observe_all(draw_up(exercise, _SEED).plan, exercise.reference(_named(exercise, "no_shift")))
    other = _sketched(exercise, draw_up(exercise, _SEED + 1))
    names = [name for name, _ in other.outputs]

    assert _named(exercise, "no_shift") not in other.likely(exercise.mistakes, observed, names)


def test_a_mistake_is_named_without_a_search(catalog: Catalog) -> None:
    """With sketches it takes a few runs; without them that effort is not enough to come as far."""
    exercise = catalog["self_attention_masked"]
    sheet = draw_up(exercise, _SEED)
    wrong = exercise.mistakes[-1]
    observed = observe_all(sheet.plan, exercise.reference(wrong))
    evidence = Evidence(sheet.plan, observed, *observe_reference(exercise, sheet.plan), sheet.free)
    sketches = _sketched(exercise, sheet)

    (found,) = diagnose(exercise, evidence, effort=Effort(12_000), sketches=sketches)
    assert (found.mistake, found.certain) == (wrong.name, True)
    assert [one.certain for one in diagnose(exercise, evidence, effort=Effort(2_000))] in ([], [False])


def test_what_was_interrupted_names_no_mistake_that_is_one_of_several(catalog: Catalog) -> None:
    """Of an answer that was stopped early several mistakes give the same; half of the sketches know one of them."""
    exercise = catalog["softmax"]
    sheet = draw_up(exercise, _SEED)
    truth, sketches, asked = observe_reference(exercise, sheet.plan), blank_sketches(exercise, sheet), []

    def go_on() -> bool:
        asked.append(1)
        return len(asked) <= len(exercise.mistakes) // 2

    sketch_all(exercise, sheet, sketches, go_on)
    for wrong in exercise.mistakes:
        whole = observe_all(sheet.plan, exercise.reference(wrong))
        stopped = replace(whole, calls=dict(list(whole.calls.items())[:2]))
        evidence = Evidence(sheet.plan, stopped, *truth, sheet.free)
        assert diagnose(exercise, evidence, sketches=sketches) == diagnose(exercise, evidence)
    assert len(asked) == len(exercise.mistakes) // 2 + 1


def test_the_same_is_found_with_sketches(catalog: Catalog) -> None:
    """They make the search short and change nothing of what it finds."""
    exercise = catalog["causal_mask"]
    sheet = draw_up(exercise, _SEED)
    truth, sketches = observe_reference(exercise, sheet.plan), _sketched(exercise, sheet)
    for wrong in exercise.mistakes:
        observed = observe_all(sheet.plan, exercise.reference(wrong))
        evidence = Evidence(sheet.plan, observed, *truth, sheet.free)
        assert diagnose(exercise, evidence, sketches=sketches) == diagnose(exercise, evidence)


def _named(exercise: Exercise, name: str) -> Mistake:
    return next(one for one in exercise.mistakes if one.name == name)


def _sketched(exercise: Exercise, sheet: Sheet) -> Sketches:
    sketches = blank_sketches(exercise, sheet)
    sketch_all(exercise, sheet, sketches)
    return sketches
