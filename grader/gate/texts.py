"""What an author wrote down: texts that are there, and sizes that tell axes apart or that nobody knows before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grader.box.plan import Plan
from grader.checks.evidence import base_call, calling
from grader.errors import AuthorError
from grader.exercise import chart, microscope
from grader.exercise.catalog import Exercise
from grader.judge.grade import observe_reference

MISTAKES_AT_LEAST = 8
SEEDS = 200  # for which drawn sizes are tried


def texts(exercise: Exercise) -> Iterator[str]:
    """Complain of words that are missing."""
    if (known := sum(not wrong.offered for wrong in exercise.mistakes)) < MISTAKES_AT_LEAST:
        yield f"`mistakes.py` holds {known} of at least {MISTAKES_AT_LEAST} known mistakes; write the others"
    for wrong in exercise.mistakes:
        if not wrong.title.endswith(".") or len(wrong.title) > 80:
            yield f"mistake `{wrong.name}`: the docstring's first line is its title, one sentence of up to 80 letters"
        if not wrong.message:
            yield f"mistake `{wrong.name}` says nothing below its title; tell the student why, and where to look"
    for heading in ("## What to build", "## What you write", "## What is checked"):
        if heading not in exercise.statement:
            yield f"`statement.md` has no section `{heading}`"
    yield from _pictures(exercise.statement)
    if not exercise.hints:
        yield "there are no hints; write at least one"


def _pictures(statement: str) -> Iterator[str]:
    for blocks, read in ((microscope.blocks, microscope.microscope), (chart.blocks, chart.chart)):
        for text in blocks(statement):
            try:
                read(text)
            except AuthorError as error:
                yield str(error)


def sizes(exercise: Exercise) -> Iterator[str]:
    """Complain of axes that could be swapped unnoticed."""
    for case in exercise.spec.cases:
        sizes = [size for size in case.sizes.values() if isinstance(size, int) and size > 1]
        if len(set(sizes)) < len(sizes) and not case.allow_equal_sizes:
            said = f"case `{case.name}` has two axes of the same size ({case.sizes})"
            yield f"{said}; a swapped axis must not fit, unless the case is about that (`allow_equal_sizes = true`)"


def draws(exercise: Exercise, plan: Plan) -> Iterator[str]:
    """Complain if no case leaves its sizes to the seed, or if the reference does not take some of them.

    An answer to the sizes of all other cases can be written down; `plan` is any of the exercise's.
    """
    left_open = [case for case in exercise.spec.cases if case.draw]
    if not left_open:
        yield "all sizes are known before a hand-in, so an answer may be right in these alone; add a case with `draw`"
    for seed in range(SEEDS if left_open else 0):
        cases = [exercise.draw(case, seed) for case in left_open]
        asked = replace(calling(plan, cases, base_call), initial_of=())
        try:
            observe_reference(exercise, asked)
        except AuthorError as error:
            yield f"with seed {seed} {error}; it was given {'; '.join(case.drawn for case in cases)}"
            return
