"""All exercises, read from `exercises/` and `reference/`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from grader.errors import AuthorError
from grader.exercise import ROOT as ROOT
from grader.exercise import mistakes
from grader.exercise.mistakes import Mistake, PatchableReference
from grader.exercise.spec import CaseSpec, Spec, read_spec
from grader.exercise.versions import exercise_version

if TYPE_CHECKING:
    from grader.box.inline import Prebuilt
    from grader.exercise.inputs import Case
    from grader.exercise.steps import Steps

STILL_THE_STARTER = "This is still the starter: write your answer into it first."
MODULES = ("inputs.py", "mistakes.py", "lab.py", "checks.py")  # of an exercise, those that decide scores


@dataclass(frozen=True)
class Exercise:
    """One exercise: its folder's name, its specification, its texts, and on demand its code."""

    id: str
    spec: Spec
    folder: Path
    reference_path: Path

    @property
    def title(self) -> str:
        """The title of the exercise."""
        return self.spec.title

    @property
    def hints(self) -> tuple[str, ...]:
        """Hints, from gentle to plain."""
        return self.spec.hints

    @cached_property
    def statement(self) -> str:
        """The statement, Markdown with formulas between `$` or `$$`."""
        return _read(self.folder / "statement.md")

    @cached_property
    def starter(self) -> str:
        """What a student begins with."""
        return _read(self.folder / "starter.py")

    def is_starter(self, source: bytes) -> bool:
        """Return whether a source is the starter, but for blanks and empty lines."""
        return source.split() == self.starter.encode().split()

    @cached_property
    def version(self) -> str:
        """A hash over all that decides a score in the exercise's files; 12 hexadecimal digits."""
        return exercise_version(self.spec, (*(self.folder / name for name in MODULES), self.reference_path))

    @cached_property
    def declined(self) -> Mapping[str, str] | None:
        """The shared mistakes that the exercise declines, each with its reason; None where it has no table."""
        from grader.exercise import offers  # here: it brings torch, and most readers look for no mistakes

        return offers.read_declined(self.folder.parent / "declined.toml").get(self.id)

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The known mistakes, in the order of `mistakes.py`, and then the shared ones that fit."""
        from grader.exercise import offers  # here: it brings torch, and most readers look for no mistakes

        fits, declined = offers.fitting(mistakes.load(self._reference_code)), self.declined or {}
        own = tuple(offers.own_of(_load(self.folder / "mistakes.py", f"exercises.{self.id}.mistakes"), fits, declined))
        return (*own, *offers.offered(fits, own, declined))

    @property
    def is_complete(self) -> bool:
        """Whether the files that decide a score are still there; they are read when a submission is graded."""
        needed = (self.reference_path, self.folder / "exercise.toml", self.folder / "mistakes.py")
        return all(path.is_file() for path in needed)

    def reference(self, *wrong: Mistake) -> Callable[[], Mapping[str, Any]]:
        """Return a loader of the reference's namespace, with the steps of the mistakes `wrong` replaced."""
        return lambda: mistakes.apply(self._reference_code, wrong)

    @cached_property
    def prebuilt(self) -> Prebuilt:
        """The reference with its modules, which are built once."""
        from grader.box.inline import Prebuilt  # here: it brings torch, and most readers run nothing

        return Prebuilt(self.reference())

    def attempts(self) -> Iterator[Callable[[], Mapping[str, Any]]]:
        """Yield loaders of the reference, and of the reference with each mistake of its own."""
        yield self.reference()
        yield from (self.reference(wrong) for wrong in self.mistakes if not wrong.offered)

    def patchable(self) -> PatchableReference:
        """Return the reference with steps that can be replaced and put back."""
        return PatchableReference(self._reference_code)

    def steps(self) -> Steps:
        """Return the reference with its steps watched."""
        from grader.exercise.steps import Steps  # here: it brings torch, and most readers run nothing

        return Steps(
            self._reference_code, (self.spec.entry.name, *(part.entry.name for part in self.spec.parts.values()))
        )

    def cases(self, seed: int) -> dict[str, Case]:
        """Draw every case's tensors from `seed`."""
        return {case.name: self.draw(case, seed) for case in self.spec.cases}

    def draw(self, case: CaseSpec, seed: int) -> Case:
        """Draw the tensors of one case, which need not be one of the exercise's own, from `seed`.

        Raises:
            AuthorError: the case is written wrongly.
        """
        from grader.exercise.inputs import make_case  # here: it brings torch, and most readers draw no tensors

        try:
            return make_case(self.spec, case, seed=seed, make=self._maker(case.make))
        except AuthorError as error:
            raise AuthorError(f"case `{case.name}`: {error}") from error

    @cached_property
    def _reference_code(self) -> CodeType:
        return compile(_read(self.reference_path), str(self.reference_path), "exec", dont_inherit=True)

    @cached_property
    def _inputs(self) -> ModuleType:
        return _load(self.folder / "inputs.py", f"exercises.{self.id}.inputs")

    def _maker(self, name: str | None) -> Callable[..., Case] | None:
        if name is None:
            return None
        if (maker := getattr(self._inputs, name, None)) is None:
            raise AuthorError(f"`{self.folder / 'inputs.py'}` defines no function `{name}`, which a case asks for")
        return maker  # type: ignore[no-any-return]  # an author's module is untyped to us


class Catalog(Mapping[str, Exercise]):
    """The exercises by id, in the order of the catalogue."""

    def __init__(self, exercises: list[Exercise]) -> None:
        ordered = sorted(exercises, key=lambda exercise: (exercise.spec.order, exercise.id))
        self._exercises = {exercise.id: exercise for exercise in ordered}

    @classmethod
    def load(cls, root: Path = ROOT) -> Catalog:
        """Read every exercise below `root`.

        Raises:
            AuthorError: an exercise is written wrongly.
        """
        folders = sorted(path.parent for path in (root / "exercises").glob("*/exercise.toml"))
        return cls([read_exercise(folder, root) for folder in folders])

    def read_texts(self) -> None:
        """Read all statements and starters now, so that a page needs no file later.

        Raises:
            AuthorError: one of them cannot be read.
        """
        for exercise in self.values():
            exercise.statement, exercise.starter  # noqa: B018  # each is read once

    def __getitem__(self, name: str) -> Exercise:
        return self._exercises[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._exercises)

    def __len__(self) -> int:
        return len(self._exercises)


def read_exercise(folder: Path, root: Path = ROOT) -> Exercise:
    """Read the exercise in `folder`; its id is the folder's name.

    Raises:
        AuthorError: its `exercise.toml` is wrong, or its reference is missing.
    """
    reference = root / "reference" / f"{folder.name}.py"
    if not reference.is_file():
        raise AuthorError(f"`{reference}` is missing; write the reference of `{folder.name}` there")
    return Exercise(folder.name, read_spec(folder / "exercise.toml"), folder, reference)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AuthorError(f"`{path}` cannot be read; expected: a text in UTF-8. {error}") from error


def _load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise AuthorError(f"`{path}` is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
