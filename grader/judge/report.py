"""The report: what a student, the store, the command line and pytest are told about one submission.

A report holds text, numbers and lists of them, nothing else: no tensor, no dictionary that came out of the sandbox.
Every string may quote the student's code, so each face escapes it in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter

from grader.checks.finding import Verdict as Verdict
from grader.exercise.spec import Dimension as Dimension


class Status(StrEnum):
    """What became of the submission as a whole. All but `REJECTED` and `UNGRADABLE` use up an attempt."""

    GRADED = "graded"
    REJECTED = "rejected"
    UNGRADABLE = "ungradable"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASHED = "crashed"


HALVED = (
    "Until your numbers are right in two cases that cannot be right by accident, each check that passed earns half of "
    "its points."
)
SAME_AS = "as in “{}”, see there"  # a reason that was told in the check of that name


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check on one case. `name` is `case: check`, unique in the report; points have two decimals."""

    name: str
    dimension: Dimension
    status: Verdict
    earned: float
    possible: float
    message: str = ""


# Whose checks are skipped where one of these did not pass; whoever sees the one learns about the others.
BUILDS_ON: Mapping[Dimension, frozenset[Dimension]] = {
    Dimension.SHAPES: frozenset(),
    Dimension.NUMERICS: frozenset({Dimension.SHAPES}),
    Dimension.MASKING: frozenset({Dimension.SHAPES}),
    Dimension.GRADIENTS: frozenset({Dimension.SHAPES, Dimension.NUMERICS}),
    Dimension.MEMORY: frozenset({Dimension.SHAPES}),
    Dimension.LEARNING: frozenset(),
}


def hidden_with(dimensions: Iterable[Dimension]) -> frozenset[Dimension]:
    """Return dimensions with all that build on them: hidden are these together, or they tell of each other."""
    hidden = frozenset(dimensions)
    return hidden | {one for one, below in BUILDS_ON.items() if below & hidden}


@dataclass(frozen=True, slots=True)
class PartialReport:
    """What is shown of a report while some of its dimensions are hidden.

    Nothing in it depends on those, but where a run ended early: then all of its checks were skipped, and say so.

    Attributes:
        hidden: the dimensions that the exercise may have, and whose checks are left out.
        checks: those of the other dimensions, without points: what one earns may depend on all of them.
        status: `graded`, also where the run ended early; or that the code could not be run or graded at all.
        reason: why it could not be.
    """

    hidden: frozenset[Dimension]
    checks: tuple[CheckResult, ...] = ()
    status: Status = Status.GRADED
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Property:
    """Something that holds of every right answer, told to teach.

    Attributes:
        title: what holds, in a few words.
        teaches: why that matters.
        holds: whether it does in the cases that look at it; None where they do not show it.
        message: where it does not, or they do not, what was seen.
    """

    title: str
    teaches: str
    holds: bool | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Points:
    """Points of one dimension."""

    earned: float
    possible: float


Matrix = tuple[tuple[float, ...], ...]
Cells = tuple[tuple[int, int], ...]
Role = Literal["attention", "influence", "mask", "encoding", "output"]


@dataclass(frozen=True, slots=True)
class Pane:
    """One matrix of a picture that has several: one head, or one head of one layer."""

    name: str
    values: Matrix
    expected: Matrix
    wrong: Cells = ()


@dataclass(frozen=True, slots=True)
class Heatmap:
    """A matrix to draw: `values[row][column]`, the expected one beside it, and the cells that are wrong.

    A cell that hides something is exactly 0 in `attention` and `influence`, and -inf or 0 in a `mask`.

    Attributes:
        role: `attention` (weights, 0 to 1), `influence` (how far row's output moved when column's input changed),
            `mask` (what is hidden), `encoding` (what is added to each position) or `output` (any other output).
        expected: empty where nothing can be expected, as of a model that was trained.
        name: of the first matrix, where there are several.
        panes: the further ones, which have the same rows and columns.
    """

    role: Role
    title: str
    rows: str
    columns: str
    values: Matrix
    expected: Matrix
    wrong: Cells = ()
    note: str = ""
    name: str = ""
    panes: tuple[Pane, ...] = ()

    @property
    def all_panes(self) -> tuple[Pane, ...]:
        """Every matrix, the first one too."""
        return (Pane(self.name, self.values, self.expected, self.wrong), *self.panes)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: a gradient's largest magnitude, the student's and the expected; None where there was none."""

    name: str
    value: float | None
    expected: float


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a curve: its points, (xs[i], ys[i]), in the order in which they are joined."""

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines over one x axis: a loss while it is trained, quality against length, memory against time steps.

    `bound` is a level that the lines are held against, drawn across; None without one. Numbers that were not finite
    are left out of a line.
    """

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    bound: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """The pictures of a report."""

    heatmaps: tuple[Heatmap, ...] = ()
    gradients: tuple[Bar, ...] = ()
    gradients_note: str = ""
    curves: tuple[Curve, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """How far one output or gradient strays in a panel, in the case where it strays furthest.

    Attributes:
        name: `context`, or `gradient of x`.
        error: the largest difference from the truth, relative to the truth's scale; None where there is nothing to
            compare, or something that is not finite.
        bound: what it may be, from the reference's own error there.
        within: whether it is.
        case: the name of the case.
    """

    name: str
    error: float | None
    bound: float
    within: bool
    case: str


@dataclass(frozen=True, slots=True)
class DevicePanel:
    """The same answer on one device and in one precision; beside the verdict, and without points.

    `note` says why something is missing. The verdict's own run is the first panel.
    """

    device: str
    dtype: str
    box: str
    readings: tuple[Reading, ...] = ()
    note: str = ""

    @property
    def within(self) -> bool:
        """Whether all of it is there and within its bounds."""
        return not self.note and bool(self.readings) and all(reading.within for reading in self.readings)


# ---- why an answer is wrong

Standing = Literal["given", "right", "inside", "first", "follows", "unknown"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A likely cause, in words to the student.

    Attributes:
        mistake: its id, the name of the function in `mistakes.py`.
        title: one line.
        message: what happened, why it is wrong, where to look.
        certain: the observations agree with this mistake on every case, and with no other.
    """

    mistake: str
    title: str
    message: str
    certain: bool


@dataclass(frozen=True, slots=True)
class StepSeen:
    """One step of the reference on the case that was looked at, yours beside expected: one example, one head.

    Attributes:
        name: `scores`, `weights` and so on; empty for a step of another kind.
        title: what the step does.
        standing: `given` (an argument), `right`, `inside` (no result of its own, and what follows from it is right),
            `first` (the first that differs), `follows` (what comes of that one), or `unknown` (not found).
        expected: the reference's numbers, as far as they are drawn.
        yours: the answer's; empty where they are not known.
        wrong: the cells that differ.
        place: where the answer has them, `line 16`; empty where no line is known.
    """

    name: str
    title: str
    standing: Standing
    expected: Matrix
    yours: Matrix = ()
    wrong: Cells = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """Where an answer begins to differ from the reference, in words to the student.

    Attributes:
        step: the step of the reference that it is about; empty if only what is right could be told.
        title: one line.
        message: what is right up to where, and what differs.
        line: of the source, where the first other numbers are; None if no line can be named.
        case: the title of the case that was looked at; empty without stages.
        stages: the steps on that case; none where it is not about numbers.
    """

    step: str
    title: str
    message: str
    line: int | None = None
    case: str = ""
    stages: tuple[StepSeen, ...] = ()


# ---- what looks ready-made, or contradicts itself


class Sight(StrEnum):
    """How something was seen."""

    TRAPPED = "trapped"  # a forbidden operation: it was called while the code ran, and stopped
    READ = "read"  # a forbidden operation: it stands in the source, where the answer leads to it
    UNUSUAL = "unusual"  # it stands in the source, and no answer needs it
    CONTRADICTED = "contradicted"  # what the code told contradicts itself, or what was found outside of the box


@dataclass(frozen=True, slots=True)
class Clue:
    """A place where the code reached for what the exercise forbids, or for what no answer needs; or a contradiction.

    Attributes:
        sight: which of them, and how it was seen.
        what: the operation, or whatever stands there; the contradiction in words.
        line: in the source, from 1; None where no single line led there.
        function: the one that the line is in, `Attention.forward`; empty for none.
        cell: of a notebook, in which the line is counted; None in a plain file.
    """

    sight: Sight
    what: str
    line: int | None = None
    function: str = ""
    cell: int | None = None

    @property
    def text(self) -> str:
        """What it is and where, in words to the student."""
        what = {
            Sight.TRAPPED: f"`{self.what}` was called and blocked",
            Sight.READ: f"`{self.what}` appears in your code",
            Sight.UNUSUAL: f"`{self.what}`, which this exercise does not need; it costs no points",
            Sight.CONTRADICTED: self.what,
        }[self.sight]
        function = f", in `{self.function}`" if self.function else ""
        cell = f"cell {self.cell}, " if self.cell else ""
        return f"{cell}line {self.line}{function}: {what}" if self.line else what


WHY = (
    "In this exercise you write this step yourself, so PyTorch's own version is blocked: a case that calls it earns "
    "no points, even if your code continues without it."
)


class Flag(StrEnum):
    """What an instructor's list says about a submission; students are shown the clues instead."""

    NONE = ""
    LOOK = "look"  # it holds something that no answer needs
    READY_MADE = "ready-made"  # it reaches for a forbidden operation


def flag_of(clues: Iterable[Clue]) -> Flag:
    """Return what clues come to, for whoever has many submissions to look through."""
    sights = {clue.sight for clue in clues}
    if sights & {Sight.TRAPPED, Sight.READ}:
        return Flag.READY_MADE
    return Flag.LOOK if sights else Flag.NONE


# ---- the whole


@dataclass(frozen=True, slots=True)
class Report:
    """The whole verdict on one submission.

    Attributes:
        score: 0 to 100, two decimals; exactly 100 only if every check passed.
        device: where the student wanted it run as well; the verdict is always the CPU's.
        reason: for any status but `graded`, what happened, in words to the student.
        location: where it begins to differ from the reference; beside a diagnosis only where a line can be named.
        advice: remarks that cost nothing.
        clues: where the code reaches for what the exercise forbids, or for what no answer needs.
        panels: the same answer on other devices, where that was asked for.
        mapping: where each weight of the contract was found in the student's module.
        output: what the code printed, cleaned of control characters.
        box: which sandbox it ran in.
        dtype: the precision that the verdict was reached in.
        seconds: from taking the submission up to the verdict.
        complete: nothing is looked for any more; False while a cause is searched for, after the verdict.
        incident: the id under which a fault of ours was logged that leaves the verdict open; empty without one.
    """

    # In pictures, infinity and NaN mean something; JSON has no numbers for them.
    __pydantic_config__: ClassVar = ConfigDict(ser_json_inf_nan="strings")

    exercise: str
    status: Status
    score: float
    seed: int
    device: str
    seconds: float
    dimensions: Mapping[Dimension, Points] = field(default_factory=dict)
    checks: tuple[CheckResult, ...] = ()
    properties: tuple[Property, ...] = ()
    diagnosis: tuple[Diagnosis, ...] = ()
    location: Location | None = None
    advice: tuple[str, ...] = ()
    clues: tuple[Clue, ...] = ()
    panels: tuple[DevicePanel, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    figures: Figures = Figures()
    reason: str = ""
    output: str = ""
    box: str = ""
    dtype: str = "float64"
    incident: str = ""
    complete: bool = True

    @property
    def accepted(self) -> bool:
        """Whether every check passed; one that broke by our fault, in a report that stands all the same, is let go."""
        verdicts = {check.status for check in self.checks}
        return not self.incident and Verdict.PASSED in verdicts <= {Verdict.PASSED, Verdict.BROKEN}

    @property
    def faulty(self) -> bool:
        """Whether a fault of ours shows in the verdict, which another try may do without."""
        return bool(self.incident) or any(check.status is Verdict.BROKEN for check in self.checks)

    @property
    def lost(self) -> tuple[Dimension, ...]:
        """The dimensions in which a check earned nothing."""
        failed = {check.dimension for check in self.checks if check.possible and not check.earned}
        return tuple(name for name in self.dimensions if name in failed)

    @property
    def halved(self) -> bool:
        """Whether what passed earned half of its points; `HALVED` says why."""
        return any(check.status is Verdict.PASSED and check.earned < check.possible for check in self.checks)

    @property
    def flag(self) -> Flag:
        """What its clues come to."""
        return flag_of(self.clues)

    def bare(self) -> Report:
        """Return the verdict with its reasons, and nothing that no point depends on."""
        kept = replace(self, properties=(), advice=(), mapping={}, figures=Figures(), output="")
        return replace(kept, diagnosis=(), location=None)

    def without(self, hidden: frozenset[Dimension]) -> PartialReport:
        """Return the checks of the dimensions that are not hidden: causes, pictures and figures are drawn from all."""
        if self.status in (Status.REJECTED, Status.UNGRADABLE):
            return PartialReport(hidden, status=self.status, reason=self.reason)
        elsewhere = {SAME_AS.format(check.name) for check in self.checks if check.dimension in hidden}
        shown = (check for check in self.checks if check.dimension not in hidden)
        return PartialReport(hidden, tuple(
            replace(check, earned=0.0, possible=0.0, message="" if check.message in elsewhere else check.message)
            for check in shown
        ))  # fmt: skip

    def given_up(self) -> Report:
        """Return a report whose search for the cause ended early, as it can be shown for good."""
        return replace(self, complete=True, advice=(*self.advice, _GIVEN_UP))

    def to_json(self) -> str:
        """Return the report as one line of JSON."""
        return _ADAPTER.dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """Read a report back.

        Raises:
            pydantic.ValidationError: the text is no report.
        """
        return _ADAPTER.validate_json(text)


_GIVEN_UP = "a restart or an error of the grader interrupted the search for the cause; your points are not affected"
_ADAPTER = TypeAdapter(Report)
