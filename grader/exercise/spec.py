"""`exercise.toml`, validated: what authors write down about an exercise.

Axes have names. A case gives each name a size, and an axis may be an expression over names: `num_heads*d_out_v`.
The axis `...` stands for any leading axes; its size is a list.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from grader.box.kinds import Kind, Scalar
from grader.box.traps import GROUPS
from grader.errors import AuthorError

Sizes = dict[str, int | list[int]]
Device = Literal["cpu", "cuda"]
_NAME = re.compile(r"[A-Za-z_]\w*")


class Dimension(StrEnum):
    """What points are given for."""

    SHAPES = "shapes"
    NUMERICS = "numerics"
    MASKING = "masking"
    GRADIENTS = "gradients"
    MEMORY = "memory"
    LEARNING = "learning"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EntrySpec(_Frozen):
    """The entry point: its name, how it is driven, and the contract's argument names.

    `driver` is a class of an exercise's `lab.py` (`kv_cache.Decode`) that drives it instead of its kind's driver.
    """

    name: str
    kind: Kind
    arguments: tuple[str, ...]
    constructor: tuple[str, ...] = ()
    defaults: dict[str, Scalar] = Field(default_factory=dict)
    driver: str = Field(default="", pattern=r"^(\w+\.[A-Z]\w*)?$")

    @model_validator(mode="after")
    def _somebody_drives_it(self) -> Self:
        if self.kind.brings_a_model and not self.driver:
            raise ValueError(f"kind `{self.kind}` needs a `driver`, a class of the exercise's `lab.py`")
        return self


class InputSpec(_Frozen):
    """A tensor argument, or a function.

    `kind` is `normal` (drawn, times `scale`; all zero at index `zero_at` of the last axis but one), `shares` (their
    softmax: rows that add up to one), `causal` (True on and below the diagonal), `padding` (True on a leading run of
    keys whose length differs per batch row), `causal_padding` (both), `scattered` (no pattern; each row has a True),
    `tokens` (whole numbers from `low` to under
    `high`, an axis or a number), `numbers` (the whole numbers `values` as they are), `function` (the one called
    `function` in `grader/box/plan.py`), or `none` (None is passed).
    """

    axes: tuple[str, ...] = ()
    kind: Literal[
        "normal", "shares", "causal", "padding", "causal_padding", "scattered", "tokens", "numbers", "function", "none"
    ] = "normal"
    scale: float = 1.0
    zero_at: int | None = None
    low: int = 0
    high: str = ""
    values: tuple[int | tuple[int, ...], ...] = ()
    function: str = ""

    @property
    def differentiable(self) -> bool:
        """Whether a gradient with respect to it is asked for."""
        return self.kind in ("normal", "shares")


class ReturnSpec(_Frozen):
    """A returned tensor; `grad_output` says whether a gradient is sent back through it.

    `dtype` is left out where it follows the input's.
    """

    axes: tuple[str, ...]
    grad_output: bool = True
    dtype: Literal["", "bool", "int64"] = ""


class WeightSpec(_Frozen):
    """A weight of the contract; one called `part.W_query` is looked for in the module's part `part`.

    `kind` is `projection` (from `inputs` to `outputs`, with a `bias` or not; a constructor argument may decide, by
    name; `heads` names the axis that counts its per-head blocks; `either` way round; `ordered`
    as in the file where one matrix holds several), `table` (rows of `outputs`
    features, one per entry of `inputs`), `norm` (an nn.LayerNorm over `inputs`) or `lstm` (an nn.LSTM from `inputs` to
    `outputs` features a direction, of `layers` layers, `bidirectional` or not). `when` limits it to constructions with
    these arguments; `name` is what the student calls it, where constructions give one name to different weights.
    """

    kind: Literal["projection", "table", "norm", "lstm"] = "projection"
    inputs: str
    outputs: str = ""
    bias: bool | str = False
    heads: str | None = None
    either: bool = False
    ordered: bool = False
    layers: str = "1"
    bidirectional: bool = False
    when: dict[str, Scalar] = Field(default_factory=dict)
    name: str = ""


class PartSpec(_Frozen):
    """One entry point with its contract: what goes in, what comes out, and the weights between."""

    entry: EntrySpec
    inputs: dict[str, InputSpec] = Field(default_factory=dict)
    returns: dict[str, ReturnSpec] = Field(min_length=1)
    weights: dict[str, WeightSpec] = Field(default_factory=dict)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of all that goes in and comes out, each once."""
        given = [axis for one in self.inputs.values() for axis in one.axes]
        given += [axis for one in self.returns.values() for axis in one.axes]
        return tuple(dict.fromkeys(given))


class CaseSpec(_Frozen):
    """One set of inputs.

    Attributes:
        name, title: for tables and for people (`large_logits`, `logits fifty times larger`).
        part: which of the exercise's entry points it is about; left out, the first one.
        sizes: the size of each axis name; constructor arguments of the same name take it.
        draw: what the seed decides, so that nobody can know it before: for a size, or an argument of that name,
            `"4..9"`, a sum of products of those before it (`"heads*width"`), or a list of values; for `...` a list of
            sizes. See `drawing.settled`.
        constructor: further constructor arguments, `construct` in the file.
        arguments: scalar arguments of the call (`dim = -1`); what is left out stays at the contract's default.
        inputs: for this case only, other fields of an input (`mask = {kind = "causal"}`).
        make: a function of the exercise's `inputs.py` that has the last word on the tensors.
        easy: an answer that computes nothing is right in it, so it is none of the two that halve no points.
        allow_equal_sizes: two axes have the same size on purpose; in every other case a swapped axis must not fit.
        dtype: `float64`, the verdict's; another one is a case about precision.
    """

    name: str
    title: str
    part: str = ""
    sizes: Sizes = Field(default_factory=dict)
    draw: dict[str, str | tuple[Scalar, ...]] = Field(default_factory=dict)
    constructor: dict[str, Scalar] = Field(default_factory=dict, alias="construct")
    arguments: dict[str, Scalar] = Field(default_factory=dict)
    inputs: dict[str, dict[str, Any]] = Field(default_factory=dict)
    make: str | None = None
    easy: bool = False
    allow_equal_sizes: bool = False
    dtype: Literal["float64", "float32", "float16", "bfloat16"] = "float64"


class CheckSpec(_Frozen):
    """A check, the cases it runs on, and the points they share equally (0: advice only).

    With `teaches`, a sentence to the student, the check is shown as a property of the answer too, whether it holds or
    not. What else is given are the check's own options, which are validated where the check is known.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    check: str
    points: float = Field(ge=0)
    cases: tuple[str, ...] = Field(min_length=1)
    title: str = ""
    teaches: str = ""

    @property
    def options(self) -> Mapping[str, Any]:
        """What is given beside the fields of every check."""
        return self.model_extra or {}


class LimitsSpec(_Frozen):
    """What one submission to this exercise may use."""

    cpu_seconds: float = 5.0
    wall_seconds: float = 8.0
    memory_bytes: int = 1 << 30


class Spec(PartSpec):
    """A whole `exercise.toml`; `parts` are further entry points that the file must define.

    `devices` are those that a submission may ask for; the verdict is the CPU's on any of them.
    `exempt` excuses parameters that no two cases need to tell apart, each with its reason (`gate/coincidences.py`).
    """

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
    parts: dict[str, PartSpec] = Field(default_factory=dict)
    cases: tuple[CaseSpec, ...] = Field(min_length=1)
    checks: tuple[CheckSpec, ...] = Field(min_length=1)
    limits: LimitsSpec = LimitsSpec()
    devices: tuple[Device, ...] = ("cpu",)
    exempt: dict[str, str] = Field(default_factory=dict)

    def part_of(self, case: CaseSpec) -> PartSpec:
        """Return the entry point that `case` is about."""
        return self.parts[case.part] if case.part else self

    @model_validator(mode="after")
    def _cases_are_known(self) -> Self:
        names = [case.name for case in self.cases]
        for check in self.checks:
            if unknown := set(check.cases) - set(names):
                raise ValueError(f"check `{check.check}` names cases that are not there: {', '.join(sorted(unknown))}")
        if len(set(names)) < len(names):
            raise ValueError("two cases have the same name")
        if unknown := {case.part for case in self.cases} - {"", *self.parts}:
            raise ValueError(f"cases name parts that are not there: {', '.join(sorted(unknown))}")
        return self

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        if unknown := list(_unknown_names(self)):
            raise ValueError("; ".join(unknown))
        return self

    @model_validator(mode="after")
    def _forbidden_is_known(self) -> Self:
        if unknown := set(self.forbidden) - set(GROUPS):
            raise ValueError(f"`forbidden` knows {', '.join(GROUPS)}; not {', '.join(sorted(unknown))}")
        return self

    @model_validator(mode="after")
    def _the_cpu_is_there(self) -> Self:
        if "cpu" not in self.devices or len(set(self.devices)) < len(self.devices):
            raise ValueError("`devices` must name `cpu`, where the verdict is reached, and each device once")
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


def _unknown_names(spec: Spec) -> Iterator[str]:
    """Yield a sentence for each name that one place of the file gives, another one uses, and that is not there.

    Without this a misspelt constructor argument would be left out in silence, and a case be about something else.
    """
    for name, part in {"": spec, **spec.parts}.items():
        yield from _unknown_in_part(f"part `{name}`: " if name else "", part)
    for case in spec.cases:
        yield from (f"case `{case.name}`: {text}" for text in _unknown_in_case(case, spec.part_of(case)))


def _unknown_in_part(where: str, part: PartSpec) -> Iterator[str]:
    entry = part.entry
    yield from (
        f"{where}{text}" for text in _unknown("defaults", entry.defaults, (*entry.arguments, *entry.constructor))
    )
    if not entry.driver:  # else it may need more than the inputs themselves
        yield from (f"{where}{text}" for text in _unknown("inputs", part.inputs, entry.arguments))


def _unknown_in_case(case: CaseSpec, part: PartSpec) -> Iterator[str]:
    yield from _unknown("construct", case.constructor, part.entry.constructor)
    yield from _unknown("inputs", case.inputs, part.inputs)
    yield from _unknown("draw", case.draw, _drawable(part, case))
    if not part.entry.driver:
        yield from _unknown("arguments", case.arguments, part.entry.arguments)
    for name in case.inputs.keys() & part.inputs.keys():
        try:
            type(part.inputs[name]).model_validate({**part.inputs[name].model_dump(), **case.inputs[name]})
        except ValidationError as error:
            yield from (f"`inputs.{name}.{'.'.join(map(str, e['loc']))}`: {e['msg']}" for e in error.errors())


def _drawable(part: PartSpec, case: CaseSpec) -> list[str]:
    """Return what a case may draw: arguments, axes, and what others of its sizes are made of."""
    entry, weights = part.entry, part.weights.values()
    axes = [axis for one in weights for axis in (one.inputs, one.outputs, one.heads or "")]
    made_of = [*part.axes, *axes, *(asked for asked in case.draw.values() if isinstance(asked, str))]
    named = [name for axis in made_of for name in _NAME.findall(axis)]
    return list(dict.fromkeys([*entry.arguments, *entry.constructor, "...", *named]))


def _unknown(option: str, given: Collection[str], known: Collection[str]) -> Iterator[str]:
    if odd := sorted(set(given) - set(known) - {""}):
        yield f"`{option}` is {', '.join(odd)}; it must be one of {', '.join(known) or 'nothing'}"
