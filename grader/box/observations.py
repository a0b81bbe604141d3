"""What was seen when a plan ran: the common currency of checks, diagnosis and figures.

The same types describe the reference, a known mistake and a student's code. They hold facts only: tensors,
shapes, exceptions. Whether a fact is right is decided elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from torch import Tensor

from grader.box.keys import output_key
from grader.errors import ForbiddenCall

LOSSES = output_key("losses")  # the slot in which a call that trains tells its losses
FROZEN = "requires_grad is off"  # `Seen.what` of a weight that has no gradient for that reason
# What is kept of a traced call: results, axes and lines of each, and bytes of all values together.
MOST_RESULTS, MOST_AXES, MOST_LINES, TRACE_LIMIT = 400, 8, 60, 4 << 20
TRAP_HITS = 4  # trapped calls that are told between two events
NOTICES = 8  # of those that are only noticed, in a run


class Stage(StrEnum):
    """Where in the student's code an exception was raised."""

    LOAD = "load"  # while the file was executed, or the entry point looked up
    CONSTRUCT = "construct"
    TRANSFER = "transfer"  # while the weights were matched and copied in
    CALL = "call"
    BACKWARD = "backward"


class Blame(StrEnum):
    """What kind of exception it was; each gets a sentence of its own in the report."""

    ERROR = "error"  # the code raised
    FORBIDDEN = "forbidden"  # the code called a ready-made operation
    ARGUMENT = "argument"  # the code does not take an argument that the case needs
    WEIGHTS = "weights"  # the module's parameters cannot be matched with the contract's
    ENTRY = "entry"  # the entry point is missing


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception: at which stage, its type's name, its message, and the line of the submission (1-based).

    `cell` is the cell of a notebook in which the line is counted; None in a plain file. `bases` names the exceptions of
    Python that its type is derived from.
    """

    stage: Stage
    blame: Blame
    type: str
    message: str
    line: int | None = None
    cell: int | None = None
    bases: tuple[str, ...] = field(default=(), compare=False)

    def is_a(self, name: str) -> bool:
        """Return whether an `except` clause for the exception of Python called `name` would catch it."""
        return name in (self.type, *self.bases)


class Presence(StrEnum):
    """What came in place of a tensor that was asked for."""

    TENSOR = "tensor"
    MISSHAPEN = "misshapen"  # a tensor of another shape or an unusual dtype; its values are not sent
    NONE = "none"  # no gradient: the tensor is not connected to the output
    OTHER = "other"  # something that is no plain tensor, or nothing at all; `what` says it


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One slot of a call: the tensor, or what was there instead.

    Attributes:
        tensor: the values, contiguous, on the CPU, detached; only where `presence` is TENSOR.
        shape, dtype: as the student's code gave them (`dtype` by torch's name, without `torch.`).
        what: for OTHER, a short description such as `list of 2` or `nothing`; for NONE, `FROZEN` or nothing.
    """

    presence: Presence
    tensor: Tensor | None = None
    shape: tuple[int, ...] = ()
    dtype: str = ""
    what: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """The result of one operation.

    Attributes:
        line: of the submission, the one that asked for it (1-based).
        values: in float64, whatever `dtype` they had.
        random: the operation draws random numbers.
        writes: it writes into an argument of the call.
        cuts: it is computed from what needs a gradient, and passes none of it on.
        lines: where it comes from: its own line and those of all that it is computed from; 0 stands for what was there
            before the call, other than arguments and weights.
        caller: the line of the submission that called the function or module of this line; 0 where none did.
        gradient: what came back to it in the backward pass; None without one.
    """

    line: int
    values: Tensor
    dtype: str = "float64"
    random: bool = False
    writes: bool = False
    cuts: bool = False
    lines: frozenset[int] = frozenset()
    caller: int = 0
    gradient: Tensor | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CallSeen:
    """What one call gave: a `Seen` per slot of the plan, or the exception that ended it.

    A call whose forward pass returned but whose backward pass raised has both.
    `modified` names the arguments that the call changed in place. `largest` is, for a measured call, the size of the
    largest tensor storage of the forward pass, in elements; None where the measuring did not hold to the end.
    `trace` holds, for a traced call, the results of its operations in their order, as many as are kept.
    """

    name: str
    slots: Mapping[str, Seen] = field(default_factory=dict)
    raised: Raised | None = None
    modified: tuple[str, ...] = ()
    largest: int | None = None
    trace: tuple[Traced, ...] = ()

    def losses(self) -> tuple[float, ...]:
        """Return the losses of a call that trains, step by step, without those that are no number."""
        found = self.slots.get(LOSSES)
        if found is None or found.tensor is None:
            return ()
        return tuple(loss for loss in found.tensor.reshape(-1).tolist() if math.isfinite(loss))


@dataclass(frozen=True, slots=True)
class BuildSeen:
    """What constructing a module gave.

    Attributes:
        mapping: canonical weight name to the place where it was found, in words (`attn.q_proj.weight, transposed`).
        unused: parameters of the module that no canonical weight claimed (`name (shape)`).
        zeroed: superfluous biases that were set to zero.
        loose: names of plain tensor attributes, neither parameter nor buffer.
        initial: mean and standard deviation after the constructor of the weights in `Plan.initial_of`.
        choices: how many assignments of weights to parameters there were, this one included.
        places: this assignment in words of the child's, for `Pick.places`; empty where names decide.
    """

    name: str
    mapping: Mapping[str, str] = field(default_factory=dict)
    raised: Raised | None = None
    unused: tuple[str, ...] = ()
    zeroed: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    initial: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    choices: int = 1
    places: str = ""


@dataclass(frozen=True, slots=True)
class TrapHit:
    """A forbidden operation that was called and trapped, whatever the code did about the exception.

    Or what no answer needs, `noticed` while the code ran: that was let through, and ends nothing.

    Attributes:
        what: the operation, as a student knows it.
        line: of the submission, the innermost one (1-based); None where no line of it led there.
        function: which that line is in, `Attention.forward`; empty for none.
        loading: it happened while the file was loaded.
        noticed: see above.
    """

    what: str
    line: int | None = None
    function: str = ""
    loading: bool = False
    noticed: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """That a file was loaded, and what is worth telling of one that can be graded all the same.

    Attributes:
        raised: the error that ended its demonstration; None for none.
        missing: the modules that it imports and that are not here; stand-ins took their places.
        over: whether loading came to its end.
    """

    raised: Raised | None = None
    missing: tuple[str, ...] = ()
    over: bool = False


Event = Raised | BuildSeen | CallSeen | TrapHit | Loaded


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """All that was seen, by name; a call that was never reached is absent. `loading` is the error that ended it all.

    A call or a construction in which a trap sprang counts as ended by it, even if the code went on: see `of`.
    """

    calls: Mapping[str, CallSeen] = field(default_factory=dict)
    builds: Mapping[str, BuildSeen] = field(default_factory=dict)
    loading: Raised | None = None
    trap_hits: tuple[TrapHit, ...] = ()
    loaded: Loaded = Loaded()

    @classmethod
    def of(cls, events: Iterable[Event]) -> Observations:
        """Collect the events of one run; a trap hit belongs to the call or construction that comes next."""
        all_of_them = list(events)
        found = list(_ended_by_traps(all_of_them))
        return cls(
            calls={event.name: event for event in found if isinstance(event, CallSeen)},
            builds={event.name: event for event in found if isinstance(event, BuildSeen)},
            loading=next((event for event in found if isinstance(event, Raised)), None),
            trap_hits=tuple(event for event in all_of_them if isinstance(event, TrapHit)),
            loaded=next((event for event in found if isinstance(event, Loaded)), Loaded()),
        )


def _ended_by_traps(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events but for the trap hits; a call with hits counts as ended by the first."""
    first: TrapHit | None = None
    for event in events:
        if isinstance(event, TrapHit):
            first = first or (None if event.loading or event.noticed else event)
            continue
        if first is not None and isinstance(event, CallSeen | BuildSeen):
            yield _ended(event, first)
        else:
            yield event
        first = None


def _ended(event: CallSeen | BuildSeen, hit: TrapHit) -> CallSeen | BuildSeen:
    """Return `event` as it would have been, had the code not caught the exception."""
    if event.raised is not None and event.raised.blame is Blame.FORBIDDEN:
        return event
    stage = Stage.CALL if isinstance(event, CallSeen) else Stage.CONSTRUCT
    error = ForbiddenCall(hit.what)
    raised = Raised(stage, Blame.FORBIDDEN, type(error).__name__, str(error), hit.line)
    return CallSeen(event.name, raised=raised) if isinstance(event, CallSeen) else BuildSeen(event.name, raised=raised)
