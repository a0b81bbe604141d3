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

What many exercises share is in `exercises/families/`. An exercise takes what is `common` in a family in one line,
takes one mistake under another name, or borrows one for a step that has another name there:

    from_weights = take(weights, except_=("hard_maximum",), also=("powers_of_two",))
    scaled_by_d_k = scores.scaled_by_the_width_itself
    keys_and_values_swapped = borrow(projections.keys_and_values_swapped, replaces="SelfAttention.project")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Parameter, signature
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
        name: the name under which the exercise holds it, the mistake's id.
        replaces: the step of the reference that `step` stands in for.
        dimension: where it must cost points.
        title, message: what the student is told.
        common: shared, and taken by an exercise that takes its family.
        offered: the exercise has it because it fits (see `offers`). It is tried alone, and never as one of two: pairs
            would take the square of the time.
    """

    name: str
    replaces: str
    dimension: Dimension
    step: Callable[..., Any]
    title: str
    message: str
    common: bool = False
    offered: bool = False


def mistake(*, replaces: str, dimension: str, common: bool = False) -> Callable[[Step], Step]:
    """Mark a function as a known mistake that stands in for the reference's step `replaces`.

    A shared one that often comes together with others is `common`: see `take`.
    """

    def mark(step: Step) -> Step:
        title, _, message = inspect.cleandoc(step.__doc__ or "").partition("\n")
        where, told = _dimension(dimension), _unwrap(message)
        made = Mistake(step.__name__, replaces, where, step, title.strip(), told, common)
        setattr(step, _MARK, made)
        return step

    return mark


def borrow(step: Step, *, replaces: str | None = None, dimension: str | None = None) -> Step:
    """Return the mistake `step` once more, marked for another step of the reference, or for another dimension.

    What it does and what the student is told stay as they are; `step` itself is left alone.

    Raises:
        AuthorError: `step` is not marked as a mistake.
    """
    known = getattr(step, _MARK, None)
    if not isinstance(known, Mistake):
        raise AuthorError(f"`{getattr(step, '__name__', step)}` cannot be borrowed: it is not marked with `@mistake`")

    @wraps(step)
    def borrowed(*arguments: Any, **options: Any) -> Any:
        return step(*arguments, **options)

    where = _dimension(dimension) if dimension else known.dimension
    setattr(borrowed, _MARK, replace(known, replaces=replaces or known.replaces, dimension=where, step=borrowed))
    return borrowed  # type: ignore[return-value]  # called as `step` is


@dataclass(frozen=True, slots=True)
class Taken:
    """What an exercise takes of a family: what is common there, but for `left`, and with `added`."""

    family: str
    left: tuple[str, ...]
    added: tuple[str, ...]


def take(family: ModuleType, *, except_: tuple[str, ...] = (), also: tuple[str, ...] = ()) -> Taken:
    """Take the common mistakes of a family that fit, are not declined and not held otherwise, under their own names.

    All else that fits is offered, and then tried alone; see `offers`.
    """
    return Taken(family.__name__.rpartition(".")[2], except_, also)


def _dimension(name: str) -> Dimension:
    if name not in list(Dimension):
        raise AuthorError(f"`dimension` of a mistake is {name!r}; it must be one of {', '.join(Dimension)}")
    return Dimension(name)


def _unwrap(text: str) -> str:
    """Return paragraphs, each on one line, one empty line between."""
    paragraphs = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return "\n\n".join(paragraphs)


def collect(module: ModuleType) -> tuple[Mistake, ...]:
    """Return the mistakes that `module` holds, in the order of the file, each under the name that it has there."""
    return tuple(found for name, value in vars(module).items() if (found := marked(name, value)) is not None)


def marked(name: str, value: object) -> Mistake | None:
    """Return the mistake that a module holds as `name`, None where it is none."""
    found = getattr(value, _MARK, None)
    return replace(found, name=name) if isinstance(found, Mistake) else None


def apply(reference: CodeType, mistakes: tuple[Mistake, ...]) -> dict[str, Any]:
    """Execute the reference's code afresh with the steps of `mistakes` replaced, and return its namespace.

    Raises:
        AuthorError: a mistake replaces a step that the reference does not have.
    """
    module = load(reference)
    for wrong in mistakes:
        owner, name = owner_of(module, wrong)
        setattr(owner, name, wrong.step)
    return module.__dict__


def load(reference: CodeType) -> ModuleType:
    """Execute the reference's code in a module of its own."""
    module = ModuleType("reference_with_mistakes")
    exec(reference, module.__dict__)  # noqa: S102 - our own reference, compiled from this repository
    return module


def functions_of(module: ModuleType) -> Iterator[tuple[Any, str, Callable[..., Any], str]]:
    """Yield the functions that a reference itself defines, then the methods of its classes.

    Each comes with what holds it, its name there, and how a mistake names it: `scale`, `CausalAttention.forward`.
    """
    own = [pair for pair in vars(module).items() if getattr(pair[1], "__module__", None) == module.__name__]
    yield from ((module, name, value, name) for name, value in own if inspect.isfunction(value))
    for owner, kind in ((name, value) for name, value in own if inspect.isclass(value)):
        methods = [(name, method) for name, method in vars(kind).items() if inspect.isfunction(method)]
        yield from ((kind, name, method, f"{owner}.{name}") for name, method in methods)


def owner_of(module: ModuleType, wrong: Mistake) -> tuple[Any, str]:
    """Return what holds the step that `wrong` replaces, the module or a class in it, and the step's name there.

    Raises:
        AuthorError: the reference has no such step.
    """
    *owners, name = wrong.replaces.split(".")
    owner: Any = module
    for part in owners:
        owner = getattr(owner, part, None)
    if not hasattr(owner, name):
        raise AuthorError(
            f"mistake `{wrong.name}` replaces `{wrong.replaces}`, which the reference does not define; "
            "name one of its functions or methods"
        )
    return owner, name


class PatchableReference:
    """A reference in which steps are replaced for a moment, for whoever tries many mistakes one after the other.

    `apply` executes the reference afresh each time, which is safest; here its classes stay, and so do instances. It
    belongs to one thread.
    """

    def __init__(self, reference: CodeType) -> None:
        self._module = load(reference)

    @contextmanager
    def replaced(self, wrong: tuple[Mistake, ...]) -> Iterator[Mapping[str, Any]]:
        """Give the namespace with the steps of `wrong` replaced; afterwards they are as they were.

        Raises:
            AuthorError: a mistake replaces a step that the reference does not have.
        """
        places = [(*owner_of(self._module, one), one.step) for one in wrong]
        before = [(owner, name, vars(owner)[name]) for owner, name, _ in places]
        try:
            for owner, name, step in places:
                setattr(owner, name, step)
            yield self._module.__dict__
        finally:
            for owner, name, step in before:
                setattr(owner, name, step)

    def steps_run(self, wrong: Iterable[Mistake], act: Callable[[Mapping[str, Any]], object]) -> frozenset[str]:
        """Return which of the steps that `wrong` replace are run by `act`, which is given the namespace."""
        ran: set[str] = set()
        noting = {one.replaces: replace(one, step=self._noted(one, ran)) for one in wrong}
        with self.replaced(tuple(noting.values())) as namespace:
            act(namespace)
        return frozenset(ran)

    def misfit(self, wrong: Mistake) -> str:
        """Return in what way `wrong` cannot be called as the step that it replaces is; empty if it can.

        Raises:
            AuthorError: the reference has no such step.
        """
        owner, name = owner_of(self._module, wrong)
        taken, given = signature(wrong.step).parameters, signature(getattr(owner, name)).parameters
        named = {parameter for parameter, it in given.items() if it.kind is Parameter.KEYWORD_ONLY}
        try:
            signature(wrong.step).bind(*(given.keys() - named), **dict.fromkeys(named))
        except TypeError:
            return f"({', '.join(taken)}), and the step that it replaces ({', '.join(given)})"
        return ""

    def _noted(self, wrong: Mistake, ran: set[str]) -> Callable[..., Any]:
        owner, name = owner_of(self._module, wrong)
        original = vars(owner)[name]

        def step(*arguments: Any, **options: Any) -> Any:
            ran.add(wrong.replaces)
            return original(*arguments, **options)

        return step
