"""Known mistakes: the reference with one of its steps replaced.

An author writes, in `exercises/<id>/mistakes.py`, one function per mistake. It has the signature of the step that
it replaces, and its docstring is what the student is told (first line: the title; then the message):

    @mistake(replaces="scale", dimension="numerics")
    def no_scaling(scores, d_k):
        '''You never divide the scores by √d_k.

        Your scores are the plain dot products, so …
        '''
        return scores

A step is a name in the reference module, `scale`, or a method of a class there, `CausalAttention.forward`. Applying a
mistake executes the reference's source afresh and puts the function in the step's place, so mistakes that replace
different steps compose.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any, TypeVar

from grader.errors import AuthorError
from grader.exercise.spec import Dimension

Step = TypeVar("Step", bound=Callable[..., Any])
_MARK = "__mistake__"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One known mistake of one exercise.

    Attributes:
        name: the function's name, the mistake's id.
        replaces: the step of the reference that `step` stands in for.
        dimension: where it must cost points.
        title, message: what the student is told.
    """

    name: str
    replaces: str
    dimension: Dimension
    step: Callable[..., Any]
    title: str
    message: str


def mistake(*, replaces: str, dimension: str) -> Callable[[Step], Step]:
    """Mark a function as a known mistake that stands in for the reference's step `replaces`."""

    def mark(step: Step) -> Step:
        title, _, message = inspect.cleandoc(step.__doc__ or "").partition("\n")
        made = Mistake(step.__name__, replaces, Dimension(dimension), step, title.strip(), _unwrap(message))
        setattr(step, _MARK, made)
        return step

    return mark


def _unwrap(text: str) -> str:
    """Return paragraphs, each on one line, one empty line between."""
    paragraphs = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return "\n\n".join(paragraphs)


def collect(module: ModuleType) -> tuple[Mistake, ...]:
    """Return the mistakes that `module` defines, in the order of the file."""
    marked = (getattr(value, _MARK, None) for value in vars(module).values())
    return tuple(found for found in marked if isinstance(found, Mistake))


def apply(reference: CodeType, mistakes: tuple[Mistake, ...]) -> dict[str, Any]:
    """Execute the reference's code afresh with the steps of `mistakes` replaced, and return its namespace.

    Raises:
        AuthorError: a mistake replaces a step that the reference does not have.
    """
    module = ModuleType("reference_with_mistakes")
    exec(reference, module.__dict__)  # noqa: S102 - our own reference, compiled from this repository
    for wrong in mistakes:
        _replace(module, wrong)
    return module.__dict__


def _replace(module: ModuleType, wrong: Mistake) -> None:
    *owners, name = wrong.replaces.split(".")
    owner: Any = module
    for part in owners:
        owner = getattr(owner, part, None)
    if not hasattr(owner, name):
        raise AuthorError(
            f"mistake `{wrong.name}` replaces `{wrong.replaces}`, which the reference does not define; "
            "name one of its functions or methods"
        )
    setattr(owner, name, wrong.step)
