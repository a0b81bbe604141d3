"""A reference in which steps are replaced for a moment, for whoever tries many mistakes one after the other.

`mistakes.apply` executes the reference afresh each time, which is safest; here its classes stay, and so do instances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from inspect import Parameter, signature
from types import CodeType
from typing import Any

from grader.exercise.mistakes import Mistake, load, owner_of


class PatchableReference:
    """One reference's namespace; belongs to one thread."""

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
