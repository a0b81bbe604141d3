"""The options of checks: what `exercise.toml` may say in a `[[checks]]` table beside cases, points and words.

Each check declares a model of its own; a field without a default must be given. Names that must be those of the
contract are compared with it by `unknown`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader.errors import AuthorError
from grader.exercise.spec import PartSpec


class Options(BaseModel):
    """The options of a check that takes none; others inherit from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Yield a sentence for each name that the contract of `part` does not have."""
        yield from ()


class OneOutput(Options):
    """`output`, the output that is looked at."""

    output: str

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Compare `output` with what is returned."""
        yield from misspelt("output", (self.output,), part.returns)


class Inputs(Options):
    """`of`, names of inputs."""

    of: tuple[str, ...] = Field(min_length=1)

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Compare `of` with what goes in."""
        yield from misspelt("of", self.of, part.inputs)


class InputAxis(Inputs):
    """`of`, names of inputs; `axis`, one of theirs; `output`, the output that is compared."""

    axis: str
    output: str

    def unknown(self, part: PartSpec) -> Iterator[str]:
        """Compare all three with what goes in and comes out."""
        yield from super().unknown(part)
        yield from misspelt("axis", (self.axis,), self._axes(part))
        yield from misspelt("output", (self.output,), part.returns)

    def _axes(self, part: PartSpec) -> list[str]:
        return [axis for name in self.of if name in part.inputs for axis in part.inputs[name].axes]


def misspelt(option: str, given: Collection[str], known: Collection[str]) -> Iterator[str]:
    """Yield a sentence if a value of an option is not among the known ones."""
    if odd := sorted(set(given) - set(known)):
        yield f"`{option}` is {', '.join(odd)}; it must be one of {', '.join(known) or 'nothing'}"


def read_options(check: str, model: type[Options], given: Mapping[str, Any], parts: Collection[PartSpec]) -> Options:
    """Return the options that an exercise gives to a check, whose cases are about `parts`.

    Raises:
        AuthorError: one is missing, not known, or not what it must be; the text names the check and the option.
    """
    try:
        options = model.model_validate(dict(given))
    except ValidationError as error:
        raise AuthorError("; ".join(f"check `{check}`: {_said(e, model)}" for e in error.errors())) from error
    if unknown := dict.fromkeys(text for part in parts for text in options.unknown(part)):
        raise AuthorError("; ".join(f"check `{check}`: {text}" for text in unknown))
    return options


def _said(error: Mapping[str, Any], model: type[Options]) -> str:
    """Return what is wrong with an option."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"it needs `{name}`"
    if error["type"] == "extra_forbidden":
        return f"it takes no `{name}`; it takes {', '.join(f'`{one}`' for one in model.model_fields) or 'no options'}"
    return f"`{name}`: {error['msg']}"
