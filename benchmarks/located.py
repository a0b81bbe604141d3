"""How often it is told where a wrong answer begins to differ, and whether that is true.

Two measurements. Over the wrong examples without a diagnosis: how many get a location. And over known mistakes that
are written into the reference's source, the diagnosis left out: what is located must be the step that was replaced, or
hold it among those that do not show; a step that is right must never be named.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated

import torch
import typer

from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.box.observe import observe
from grader.box.run import Limits
from grader.examples import read_examples
from grader.exercise.catalog import Catalog, Exercise
from grader.exercise.mistakes import Mistake
from grader.exercise.steps import Steps
from grader.judge.attempt import Outcome, attempt
from grader.judge.explain.location import Compared, compare, wrong_calls
from grader.judge.explain.search import RightOnly
from grader.judge.explain.trace import WrongAnswer
from grader.judge.grade import observe_reference
from grader.judge.sheet import draw_up
from grader.judge.source import read_source

_SEED = 1


@dataclass(frozen=True, slots=True)
class Written:
    """A known mistake in the source of the reference: the step that it replaces, and the text."""

    mistake: Mistake
    text: str


def written(exercise: Exercise) -> Iterator[Written]:
    """Yield the mistakes that can be written down so, by a function at the end of the reference's source."""
    reference = exercise.reference_path.read_text(encoding="utf-8")
    for wrong in exercise.mistakes:
        try:
            yield Written(wrong, f"{reference}\n\n{_function(wrong)}")
        except (OSError, TypeError, SyntaxError):
            continue


def _function(wrong: Mistake) -> str:
    """Return the mistake's function with all that it uses of its module, and the line that puts it in its place."""
    function = inspect.unwrap(wrong.step)
    module = ast.parse(inspect.getsource(inspect.getmodule(function)))  # type: ignore[arg-type]  # it has one
    kept = [node for node in module.body if _is_needed(node, function.__name__)]
    for node in ast.walk(ast.Module(kept, [])):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [d for d in node.decorator_list if not ast.unparse(d).startswith("mistake")]
    text = "\n".join(ast.unparse(node) for node in kept)
    return (
        f"def _wrong():\n{textwrap.indent(text, '    ')}\n    return {function.__name__}\n{wrong.replaces} = _wrong()\n"
    )


def _is_needed(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not (node.module or "").startswith(("grader", "__future__"))
    if isinstance(node, ast.FunctionDef):
        return node.name == name or not any(ast.unparse(d).startswith("mistake") for d in node.decorator_list)
    return isinstance(node, ast.Import | ast.ClassDef) or (
        isinstance(node, ast.Assign) and "borrow" not in ast.unparse(node)
    )


def outcome_of(exercise: Exercise, text: str) -> Outcome:
    """Return what an answer gets, run in this process."""
    run = partial(InlineBox().run, limits=Limits())
    return attempt(draw_up(exercise, _SEED), text, run, partial(observe_reference, exercise), known=exercise.attempts)


def location(exercise: Exercise, text: str, outcome: Outcome, cancel: CancelToken | None = None) -> Compared | None:
    """Return where the numbers of an answer begin to differ."""
    return compare(wrong_answer(exercise, text, outcome, cancel))


def wrong_answer(exercise: Exercise, text: str, outcome: Outcome, cancel: CancelToken | None = None) -> WrongAnswer:
    """Return an answer that can be run again."""
    run = partial(InlineBox().run, source=text, limits=Limits())
    again = (lambda plan: run(plan.placing(outcome.places))) if outcome.places else run
    return WrongAnswer(exercise, outcome, text, again, cancel or CancelToken())


def judged(exercise: Exercise, wrong: Written, compared: Compared | None, outcome: Outcome) -> str:
    """Return `true`, `false` or `silent`: whether what was located holds the step that was replaced."""
    if compared is None:
        return "silent"
    found = compared.result
    steps, culprit = _run(exercise, outcome, compared), wrong.mistake.replaces
    blamed = {culprit} | steps.inside.get(culprit, set())
    if isinstance(found, RightOnly):
        return "right numbers only"  # which were compared one by one
    exactly = {found.step}
    if found.bypassed:
        exactly |= {origin.step for origin in found.origins.values()}
        exactly |= {step for node in found.bypassed for step in steps.takers.get(node, ())}
    if blamed & exactly:
        return "true"
    return "true, within a range" if blamed & set(found.between) else "false"


def _run(exercise: Exercise, outcome: Outcome, compared: Compared) -> Steps:
    """Return the steps of the reference after the call that was looked at."""
    steps = exercise.steps()
    plan = outcome.evidence.plan.only(frozenset({compared.call.name})).in_double()
    steps.watch(lambda: list(observe(plan, lambda: steps.namespace)))
    return steps


def located(
    only: Annotated[list[str] | None, typer.Argument(help="exercises; all that do not train if left out")] = None,
    each: Annotated[int, typer.Option(help="known mistakes an exercise, at most")] = 1000,
    examples: Annotated[bool, typer.Option(help="the wrong examples without a diagnosis as well")] = True,
) -> None:
    """Count the locations that are told, and the untrue ones among them."""
    torch.set_num_threads(1)
    told, truths = Counter[str](), Counter[str]()
    for exercise in Catalog.load().values():
        if (only and exercise.id not in only) or exercise.spec.entry.kind.trains:
            continue
        for wrong in islice(written(exercise), each):
            truths[_verify(exercise, wrong)] += 1
        if examples:
            told.update(_tell(exercise))
        typer.echo(f"{exercise.id}: {dict(truths)} {dict(told)}")
    typer.echo(f"known mistakes: {dict(truths)}\nexamples without a diagnosis: {dict(told)}")


def _verify(exercise: Exercise, wrong: Written) -> str:
    outcome = outcome_of(exercise, wrong.text)
    if (
        outcome.score == 100
        or outcome.run.observations.loading is not None
        or not wrong_calls(wrong_answer(exercise, wrong.text, outcome))
    ):
        return "outputs right, or an error"
    begun = time.perf_counter()
    compared = location(exercise, wrong.text, outcome)
    verdict = judged(exercise, wrong, compared, outcome)
    if verdict.startswith("false") or time.perf_counter() - begun > 5:
        typer.echo(
            f"  {exercise.id} {wrong.mistake.name} ({wrong.mistake.replaces}): {verdict}, {described(compared)}, "
            f"{time.perf_counter() - begun:.1f} s"
        )
    return verdict


def _tell(exercise: Exercise) -> Iterator[str]:
    for example in read_examples(exercise.folder):
        if example.loses is None or example.diagnosis:
            continue
        text = read_source(example.path.read_bytes(), limit_bytes=Limits().source_bytes)
        outcome = outcome_of(exercise, text)
        compared = location(exercise, text, outcome)
        right_only = compared is not None and isinstance(compared.result, RightOnly)
        yield "silent" if compared is None else "right numbers only" if right_only else "first step"


def described(compared: Compared | None) -> str:
    """Return a location in short."""
    if compared is None:
        return "nothing"
    found = compared.result
    right = [node.step for node in found.right]
    if isinstance(found, RightOnly):
        return f"right {right}"
    first, used = found.step, bool(found.bypassed)
    return f"first {first}, between {found.between}, right {right}, used {used}"
