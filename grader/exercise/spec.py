"""`exercise.toml`, validated: what authors write down about an exercise.

Axes have names. A case gives each name a size, and an axis may be an expression over names: `num_heads*d_out_v`.
The axis `...` stands for any leading axes; its size is a list.
"""

from __future__ import annotations

import math
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from grader.box.kinds import Kind, Scalar
from grader.box.traps import GROUPS
from grader.errors import AuthorError

Sizes = dict[str, int | list[int]]


class Dimension(StrEnum):
    """What points are given for."""

    SHAPES = "shapes"
    NUMERICS = "numerics"
    MASKING = "masking"
    GRADIENTS = "gradients"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EntrySpec(_Frozen):
    """The entry point: its name, how it is driven, and the contract's argument names."""

    name: str
    kind: Kind
    arguments: tuple[str, ...]
    constructor: tuple[str, ...] = ()
    defaults: dict[str, Scalar] = Field(default_factory=dict)


class InputSpec(_Frozen):
    """A tensor argument.

    `kind` is `normal` (drawn, times `scale`), `causal` (True on and below the diagonal), `padding` (True on a
    leading run of keys whose length differs per batch row), `causal_padding` (both), or `none` (None is passed).
    """

    axes: tuple[str, ...]
    kind: Literal["normal", "causal", "padding", "causal_padding", "none"] = "normal"
    scale: float = 1.0

    @property
    def differentiable(self) -> bool:
        """Whether a gradient with respect to it is asked for."""
        return self.kind == "normal"


class ReturnSpec(_Frozen):
    """A returned tensor; `upstream` says whether a gradient is sent back through it."""

    axes: tuple[str, ...]
    upstream: bool = True


class WeightSpec(_Frozen):
    """A projection of the contract: the axes it maps between, and whether it has a bias.

    `bias` may name a constructor argument that decides. `heads` names the axis that counts its per-head blocks.
    """

    inputs: str
    outputs: str
    bias: bool | str = False
    heads: str | None = None


class CaseSpec(_Frozen):
    """One set of inputs.

    Attributes:
        name, title: for tables and for people (`large_logits`, `logits fifty times larger`).
        sizes: the size of each axis name; constructor arguments of the same name take it.
        constructor: further constructor arguments, `construct` in the file.
        arguments: scalar arguments of the call (`dim = -1`); what is left out stays at the contract's default.
        inputs: for this case only, other fields of an input (`mask = {kind = "causal"}`).
        make: a function of the exercise's `inputs.py` that has the last word on the tensors.
        alike: two axes have the same size on purpose; in every other case a swapped axis must not fit.
        dtype: `float64`, the verdict's; another one is a case about precision.
    """

    name: str
    title: str
    sizes: Sizes = Field(default_factory=dict)
    constructor: dict[str, Scalar] = Field(default_factory=dict, alias="construct")
    arguments: dict[str, Scalar] = Field(default_factory=dict)
    inputs: dict[str, dict[str, str | float | list[str]]] = Field(default_factory=dict)
    make: str | None = None
    alike: bool = False
    dtype: Literal["float64", "float32", "float16", "bfloat16"] = "float64"


class CheckSpec(_Frozen):
    """A check, the cases it runs on, and the points they share equally (0: advice only).

    `of`, `axis`, `output` and `rows` are the options of checks about who sees whom; see `grader/checks/masking.py`.
    """

    check: str
    points: float = Field(ge=0)
    cases: tuple[str, ...] = Field(min_length=1)
    title: str = ""
    of: tuple[str, ...] = ()
    axis: str = ""
    output: str = ""
    rows: str = ""


class LimitsSpec(_Frozen):
    """What one submission to this exercise may use."""

    cpu_seconds: float = 5.0
    wall_seconds: float = 8.0
    memory_bytes: int = 1 << 30


class Spec(_Frozen):
    """A whole `exercise.toml`."""

    format_version: Literal[1]
    title: str
    summary: str
    track: str
    order: int
    difficulty: Literal["easy", "medium", "hard"]
    minutes: int
    needs: tuple[str, ...] = ()
    sources: tuple[str, ...] = Field(min_length=1)
    hints: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ("attention",)
    entry: EntrySpec
    inputs: dict[str, InputSpec]
    returns: dict[str, ReturnSpec] = Field(min_length=1)
    weights: dict[str, WeightSpec] = Field(default_factory=dict)
    cases: tuple[CaseSpec, ...] = Field(min_length=1)
    checks: tuple[CheckSpec, ...] = Field(min_length=1)
    limits: LimitsSpec = LimitsSpec()

    @model_validator(mode="after")
    def _cases_are_known(self) -> Self:
        names = [case.name for case in self.cases]
        for check in self.checks:
            if unknown := set(check.cases) - set(names):
                raise ValueError(f"check `{check.check}` names cases that are not there: {', '.join(sorted(unknown))}")
        if len(set(names)) < len(names):
            raise ValueError("two cases have the same name")
        return self

    @model_validator(mode="after")
    def _options_of_checks_are_known(self) -> Self:
        for check in self.checks:
            inputs = [self.inputs[name] for name in check.of if name in self.inputs]
            output = self.returns.get(check.output)
            known = {
                "of": (check.of, self.inputs),
                "axis": ((check.axis,), [axis for entry in inputs for axis in entry.axes]),
                "output": ((check.output,), self.returns),
                "rows": ((check.rows,), output.axes if output else ()),
            }
            for option, (given, names) in known.items():
                if unknown := set(given) - set(names) - {""}:
                    said = f"check `{check.check}`: `{option}` is {', '.join(sorted(unknown))}"
                    raise ValueError(f"{said}; it must be one of {', '.join(names) or 'nothing'}")
        return self

    @model_validator(mode="after")
    def _forbidden_is_known(self) -> Self:
        if unknown := set(self.forbidden) - set(GROUPS):
            raise ValueError(f"`forbidden` knows {', '.join(GROUPS)}; not {', '.join(sorted(unknown))}")
        return self

    @model_validator(mode="after")
    def _points_are_a_hundred(self) -> Self:
        total = math.fsum(check.points for check in self.checks)
        if abs(total - 100) > 1e-9:
            raise ValueError(f"the points of all checks add up to {total:g}; they must be 100")
        return self


def read_spec(path: Path) -> Spec:
    """Read and validate an `exercise.toml`.

    Raises:
        AuthorError: the file is missing, no TOML, or breaks the format; the text says where and how.
    """
    try:
        return Spec.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise AuthorError(f"`{path}` cannot be read: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise AuthorError(f"`{path}` is no valid TOML: {error}") from error
    except ValidationError as error:
        lines = (f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
        raise AuthorError(f"`{path}`: " + "; ".join(lines)) from error
