"""Exercises whose limits are short, for answers that are to run out of them."""

from __future__ import annotations

from dataclasses import replace

from grader.exercise.catalog import Exercise


def with_limits(exercise: Exercise, **limits: float) -> Exercise:
    """Return the exercise with other limits; those that are not named stay."""
    spec = exercise.spec
    changed = spec.limits.model_copy(update=limits)
    return replace(exercise, spec=spec.model_copy(update={"limits": changed}))
