"""One attempt at a sheet: the run in the box beside the truth, the verdicts, and what the report says of both.

Nothing here knows an exercise. The truth comes from whoever has it: a running reference, or what was kept of one.
"""

from __future__ import annotations

import _thread
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Generic, TypeVar

from torch import Tensor

from grader.box.keys import call_name, case_of
from grader.box.observations import Blame, BuildSeen, Loaded, Observations
from grader.box.observe import alone
from grader.box.plan import Call, Plan
from grader.box.run import Ending, Run
from grader.checks.evidence import Evidence, Known, misfit
from grader.checks.explain import explain
from grader.checks.finding import Verdict
from grader.checks.values import outputs_differ, unsteady
from grader.errors import GraderFault, Stopped, record
from grader.judge import verdicts
from grader.judge.inspection import find_clues
from grader.judge.placing import FOUND, by_behaviour, untold
from grader.judge.report import Clue, Property, Report, Sight, Status
from grader.judge.sheet import Sheet
from grader.judge.source import (
    clues_in_cells,
    in_cells,
    in_double_precision,
    names_single_precision,
    skipped_magic,
    what_it_is,
)
from grader.judge.text import clean
from grader.judge.verdicts import Judged, judge

LOG = logging.getLogger(__name__)
Result = TypeVar("Result")
FAULT = "because of an error in the grader"  # these words are in every remark on what is missing
BEGIN_SECONDS = 5.0  # it takes far less than a thousandth of that, on a busy machine too
Runner = Callable[[Plan], Run]
SourceRunner = Callable[[Plan, str], Run]  # the same for any source text
Truth = Callable[[Plan], tuple[Observations, Observations]]  # in float64, and the calls of lower precision as they are

_STATUS = {
    Ending.FINISHED: Status.GRADED,
    Ending.TIMEOUT: Status.TIMEOUT,
    Ending.MEMORY: Status.MEMORY,
    Ending.OUTPUT: Status.CRASHED,
    Ending.CRASHED: Status.CRASHED,
    Ending.PROTOCOL: Status.CRASHED,
}
_SINGLE_ADVICE = (
    "your code names float32, so it was graded in float32, with less precision; "
    "take dtype and device from the input instead (`x.dtype`), and where you need at least float32, use "
    "`torch.promote_types(x.dtype, torch.float32)`"
)
_BARE = (
    "your file takes too long to load, so it was graded without the statements that your answer does not need, such as "
    'a demonstration or a training; put those under `if __name__ == "__main__":`'
)
_NOTHING_DONE = (
    "nothing was finished. Code that runs while your file is loaded, such as a demonstration, uses the same time"
)
MUCH_PRINTED = 20_000  # characters
_LEFT_OPEN = (
    "An error in the grader interrupted the grading; it is not your fault. The results so far are shown and "
    "count, and no attempt is used. Your instructor can find out more with this id: {incident}"
)


@dataclass(frozen=True, eq=False)  # no slots: the points are added up once and kept in the instance
class Outcome:
    """One run with its evidence and its verdicts.

    Attributes:
        single: float64 was more than the code could do, so it was judged in float32.
        coarse: what was seen in float32 of code that asks for it by name and earned no more there. Its mistake may
            show there alone: what it gives in float64 is rounded like float32, and is like no mistake in float64.
    """

    run: Run
    evidence: Evidence
    judged: tuple[Judged, ...]
    single: bool = False
    coarse: Evidence | None = None
    places: str = ""  # where the weights are, if their behaviour had to show it: see `placing`
    clues: Callable[[], tuple[Clue, ...]] = tuple  # looked for when the report is written
    said: tuple[str, ...] = ()  # remarks on the file as such
    misread: str = ""  # what the file is in place of Python

    @cached_property
    def score(self) -> float:
        """The points, 0 to 100."""
        return verdicts.score(self.judged)


def attempt(
    sheet: Sheet,
    text: str,
    run: SourceRunner,
    truth: Truth,
    *,
    known: Known | None = None,
) -> Outcome:
    """Run and judge in float64, and once more in float32 where the code insists on that.

    Up to ten runs may be wanted. Each has the time that one may take, and none is left out because others were slow:
    a verdict must not hang on how fast the code and the machine are.
    `known` is what `Evidence` has of it.
    """

    def run_it(plan: Plan, source: str) -> Run:
        done = _in_two_runs(run, plan, source)
        return replace(done, observations=in_cells(done.observations, text))

    outcome = _placed(sheet, lambda plan: run_it(plan, text), truth, known)
    said = skipped_magic(text)
    if outcome.run.ending is Ending.TIMEOUT and not outcome.run.observations.loaded.over:
        seen, bare = outcome.evidence, replace(sheet, plan=replace(sheet.plan, bare=True))
        truths = (seen.expected, seen.rounded)
        again = _placed(bare, lambda plan: run_it(plan, text), lambda _: truths, known)
        if again.run.observations.loaded.over and again.run.observations.loading is None:  # else it defines no answer
            outcome, sheet, said = again, bare, (*said, _BARE)
    if outcome.score < 100 and outcome.run.ending is Ending.FINISHED and names_single_precision(text):
        outcome = _excused(sheet, text, outcome, run=run_it, truth=truth)
    clues = partial(_find_clues, text, sheet.plan, outcome)
    misread = what_it_is(text, outcome.run.observations.loading)
    return replace(outcome, clues=clues, said=said, misread=misread)


def _in_two_runs(run: SourceRunner, plan: Plan, source: str) -> Run:
    """Run `plan`; what is held out is asked in a second run, with the weights that the first has left.

    Code that trains can read all that its process holds, so what its model is to be asked is not there.
    """
    held_out = [call for call in plan.calls if call.held_out]
    if not held_out:
        return run(plan, source)
    first = run(plan.training(), source)
    trained = {
        call.build: values
        for call in plan.calls
        if call.build and call.reads_weights and (values := _whole(call, first.observations)) is not None
    }
    asking = plan.asking(trained)
    if first.ending is not Ending.FINISHED or not asking.calls:
        return first
    second = run(asking, source)
    seen, then = first.observations, second.observations
    failed = {name: build for name, build in then.builds.items() if build.raised is not None}
    return replace(
        first,
        observations=replace(
            seen,
            calls={**seen.calls, **then.calls},
            builds={**seen.builds, **failed},
            trap_hits=(*seen.trap_hits, *then.trap_hits),
        ),
        ending=second.ending,
        detail=second.detail,
        wall_seconds=first.wall_seconds + second.wall_seconds,
        cpu_seconds=first.cpu_seconds + second.cpu_seconds,
        memory_bytes=max(first.memory_bytes, second.memory_bytes),
        grown_bytes=max(first.grown_bytes, second.grown_bytes),
        killed=first.killed or second.killed,
    )


def _whole(call: Call, observed: Observations) -> dict[str, Tensor] | None:
    """Return the weights that a call has read, by name; None where one is missing or of another shape."""
    seen = observed.calls.get(call.name)
    if seen is None or any(misfit(slot, seen, call) for slot in call.outputs):
        return None
    found = {slot.name: seen.slots[slot.key].tensor for slot in call.outputs}
    return {name: values.double() for name, values in found.items() if values is not None}


def _excused(sheet: Sheet, text: str, outcome: Outcome, *, run: SourceRunner, truth: Truth) -> Outcome:
    """Return the better of an outcome and what the code earns in float32, where nothing but float32 is to blame.

    What was asked in float32 from the first, such as a training, which takes long, is not asked again.
    """
    known = outcome.evidence.known
    again = partial(_without_what_was_seen, run=run, outcome=outcome, first=sheet.plan)
    single = replace(_placed(sheet.in_dtype("float32"), lambda plan: again(plan, text), truth, known), single=True)
    if single.score > outcome.score:
        both = (outcome.evidence.expected, outcome.evidence.rounded)
        plan = sheet.plan.placing(single.places) if single.places else sheet.plan
        wide = _once(sheet, lambda _: again(plan, in_double_precision(text)), lambda _: both, known)
        lines = tuple(_the_worse(*pair, wide.evidence) for pair in zip(single.judged, wide.judged, strict=True))
        if (fair := replace(single, judged=lines)).score > outcome.score:
            return fair
    return replace(outcome, coarse=single.evidence) if single.run.ending is Ending.FINISHED else outcome


def _without_what_was_seen(plan: Plan, source: str, *, run: SourceRunner, outcome: Outcome, first: Plan) -> Run:
    """Run `plan` but for the calls that were in float32 in the `first` one; of those take what was seen.

    Where the weights are elsewhere now, all is run.
    """
    seen = outcome.run.observations
    others = {call.name for call in first.calls if call.dtype != "float64" and call.name in seen.calls}
    asked = frozenset(call.name for call in plan.calls) - others
    if any(build.pick.places not in ("", outcome.places) for build in plan.builds):
        return run(plan, source)
    done = run(plan.only(asked), source)
    left = [call for call in plan.calls if call.name in others]
    calls = dict(done.observations.calls) | {call.name: seen.calls[call.name] for call in left}
    builds = {name: seen.builds[name] for call in left if (name := call.build) and name in seen.builds}
    hits = tuple(dict.fromkeys((*seen.trap_hits, *done.observations.trap_hits)))
    together = replace(done.observations, calls=calls, builds=builds | dict(done.observations.builds), trap_hits=hits)
    return replace(done, observations=together)


def _the_worse(single: Judged, wide: Judged, evidence: Evidence) -> Judged:
    """Return what counts of a line: that of float32, unless the code fails in float64 without float32 as well.

    What the code raises only after its words were changed, or returns in another shape or dtype, is not its fault.
    """
    if wide.passed or wide.finding.verdict is Verdict.BROKEN or wide.item.case.dtype != "float64":
        return single
    calls = (call for call in evidence.plan.calls if case_of(call.name) == wide.item.case.name)
    return single if any(evidence.problem(call) for call in calls) else wide


def _find_clues(text: str, plan: Plan, outcome: Outcome) -> tuple[Clue, ...]:
    told = dict.fromkeys(line.finding.contradiction for line in outcome.judged if line.finding.contradiction)
    found = find_clues(text, plan, outcome.run.observations)
    return (*clues_in_cells(found, text), *(Clue(Sight.CONTRADICTED, what) for what in told))


def _placed(sheet: Sheet, run: Runner, truth: Truth, known: Known | None) -> Outcome:
    """Run and judge, and once more where the weights turn out to be elsewhere than their names and order suggest."""
    first = _once(sheet, run, truth, known)
    if first.score == 100 or first.run.ending is not Ending.FINISHED:
        return first
    places = by_behaviour(first.evidence, run)
    if not places:
        return first
    again = _once(
        sheet,
        lambda plan: run(plan.placing(places)),
        lambda _: (first.evidence.expected, first.evidence.rounded),
        known,
    )
    return replace(again, places=places) if again.score > first.score else first


class Background(Generic[Result]):
    """Does one thing in a thread of its own, from now on.

    Python's own would be waited for without end: `Thread.start` waits until the thread reports itself, and one that
    dies before that, because there is no memory for it, never does.
    """

    def __init__(self, act: Callable[[], Result]) -> None:
        self._act = act
        self._begun = threading.Event()
        self._done = threading.Event()
        self._results: list[Result] = []
        self._fault: BaseException | None = None
        _thread.start_new_thread(copy_context().run, (self._run,))  # log entries name the same submission

    def result(self) -> Result:
        """Wait for its end; return what came of it, or raise what it raised.

        Raises:
            GraderFault: the thread died before it began.
        """
        if not self._begun.wait(BEGIN_SECONDS):
            raise GraderFault("a thread died before it began; there is no memory for it")
        self._done.wait()
        if self._fault is not None:
            raise self._fault
        return self._results[0]

    def _run(self) -> None:
        self._begun.set()
        try:
            self._results.append(self._act())
        except BaseException as fault:  # noqa: BLE001 - whatever it is, it is raised where the result is asked for
            self._fault = fault
        finally:
            self._done.set()


def _once(sheet: Sheet, run: Runner, truth: Truth, known: Known | None) -> Outcome:
    running = Background(lambda: run(sheet.plan))
    try:
        expected, rounded = truth(sheet.plan)  # found here while the submission runs in the box
    finally:
        done = running.result()
    evidence = Evidence(sheet.plan, done.observations, expected, rounded, sheet.free, known)
    with alone():
        return Outcome(done, evidence, judge(sheet.items, evidence))


class OptionalParts:
    """Makes the parts of one report besides its verdict: a fault of ours there costs the part, never the verdict.

    `missing` says, in words to the student, what could not be made.
    """

    def __init__(self) -> None:
        self.missing: list[str] = []

    def make(self, what: str, make: Callable[[], Result], otherwise: Result) -> Result:
        """Return what `make` returns; `otherwise`, and the fault in the log, where it raises.

        Raises:
            Stopped: nobody waits for the report any more.

        Args:
            what: what is missing then, as the beginning of a sentence: `the pictures are`.
            make: gives the part.
            otherwise: what the report holds without it.
        """
        try:
            return make()
        except Stopped:
            raise
        except Exception as fault:  # noqa: BLE001 - whatever it is, the verdict stands without
            incident = record(LOG, f"{what} missing from a report", fault)
        self.missing.append(f"{what} missing here, {FAULT} ({incident}); this does not affect your points")
        return otherwise


def tell(blank: Report, outcome: Outcome) -> Report:
    """Return `blank` with all that follows from the outcome alone: no diagnosis, and no figures."""
    run, observed, judged = outcome.run, outcome.run.observations, outcome.judged
    status, reason = _status(run)
    optional = OptionalParts()
    no_clues: tuple[Clue, ...] = ()
    told = replace(
        blank,
        status=status,
        reason=outcome.misread or reason,
        output=clean(run.output),
        dtype="float32" if outcome.single else "float64",
        clues=optional.make("the list of forbidden calls is", outcome.clues, no_clues),
    )
    if status in (Status.REJECTED, Status.UNGRADABLE):
        return told
    none: tuple[Property, ...] = ()
    properties = optional.make("the properties of your output are", lambda: verdicts.properties(judged), none)
    silence: tuple[str, ...] = ()
    remarks = optional.make("advice is", lambda: (*verdicts.remarks(judged), *_advice(outcome.evidence)), silence)
    single = (_SINGLE_ADVICE,) if outcome.single else ()
    unnamed = untold(observed) if outcome.score < 100 else ()
    found = f"; {FOUND}" if outcome.places else ""
    mapping = next((build.mapping for build in observed.builds.values() if build.mapping), {})
    told = replace(
        told,
        score=outcome.score,
        dimensions=verdicts.by_dimension(judged),
        checks=verdicts.results(judged),
        properties=properties,
        advice=(*single, *outcome.said, *unnamed, *remarks, *optional.missing),
        mapping={clean(name, limit=100): clean(place, limit=150) + found for name, place in mapping.items()},
    )
    # It is left open if a check that has points broke by our fault and could not give them.
    open_ends = (line.finding.incident for line in judged if line.item.points and not line.finding.granted)
    incident = next(filter(None, open_ends), "")
    return replace(told, incident=incident, reason=_LEFT_OPEN.format(incident=incident)) if incident else told


def _status(run: Run) -> tuple[Status, str]:
    observed = run.observations
    if observed.loading is not None:
        return Status.REJECTED, clean(explain(observed.loading), limit=1000)
    unmatched = [b.raised for b in observed.builds.values() if b.raised and b.raised.blame is Blame.WEIGHTS]
    built = [b for b in observed.builds.values() if b.raised is None and b.mapping]
    if unmatched and not built:
        return Status.UNGRADABLE, clean(explain(unmatched[0]), limit=1000)
    where = f" ({run.detail})" if run.detail else ""
    count = "earlier results count"
    done = count if observed.calls or observed.builds else _NOTHING_DONE
    printed = ". It printed a lot, which takes time too" if len(run.output) > MUCH_PRINTED else ""
    reason = {
        Ending.FINISHED: "",
        Ending.TIMEOUT: f"your code was stopped because it took too long{where}; {done}{printed}",
        Ending.MEMORY: f"your code was stopped because it used too much memory{where}; {count}",
        Ending.OUTPUT: f"your code was stopped because it printed too much; {count}",
        Ending.CRASHED: f"your code ended its process{where}; {count}",
        Ending.PROTOCOL: f"your code corrupted the channel for its results{where}; {count}",
    }[run.ending]
    return _STATUS[run.ending], reason


# ---- advice on habits that happen to work here and hurt elsewhere; it costs nothing


def _advice(evidence: Evidence) -> tuple[str, ...]:
    builds = tuple(evidence.observed.builds.values())
    remarks = [*_on_loading(evidence.observed.loaded), *_on_weights(builds), *_on_strides(evidence)]
    return tuple(clean(text, limit=500) for text in dict.fromkeys(remarks))


def _on_loading(loaded: Loaded) -> Iterator[str]:
    raised = loaded.raised
    # A script may end itself and report success, as `sys.exit(main())` does.
    on_purpose = raised is not None and raised.type == "SystemExit" and raised.message in ("", "0", "None")
    if raised is not None and not on_purpose:
        what = "a part of your file that your answer does not need raised an error, which costs nothing"
        yield f"{what}: {explain(raised)}"
    if loaded.missing:
        replaced = "it was replaced by a placeholder, which draws nothing and has no values"
        if len(loaded.missing) > 1:
            replaced = "they were replaced by placeholders, which draw nothing and have no values"
        yield f"{', '.join(f'`{name}`' for name in loaded.missing[:8])}: not available, so {replaced}"


def _on_weights(builds: Sequence[BuildSeen]) -> Iterator[str]:
    if zeroed := sorted({name for build in builds for name in build.zeroed}):
        was = "it was" if len(zeroed) == 1 else "they were"
        names = ", ".join(f"`{name}`" for name in zeroed)
        yield f"{names}: the exercise has no bias here, so {was} set to zero"
    used = {place for build in builds for places in build.mapping.values() for place in places.split(", ")}
    for name in sorted({name.partition(" ")[0] for build in builds for name in build.unused} - used):
        yield f"`{name}` is no weight of the exercise, so it kept your initial values"
    for name in sorted({name for build in builds for name in build.loose}):
        yield f"`self.{name}` is a plain tensor: `.to(device)` and `state_dict()` ignore it; register it as a buffer"


def _on_strides(evidence: Evidence) -> list[str]:
    """Return what becomes of inputs that are not contiguous, where the same numbers gave no trouble otherwise.

    Code that changes from call to call had no trouble with them in the first one only.
    """
    if unsteady(evidence):
        return []
    given = "given inputs that are not contiguous in memory"
    for call in (call for call in evidence.plan.calls if call.non_contiguous):
        plain = next((c for c in evidence.plan.calls if c.name == call_name(case_of(call.name))), None)
        if plain is None or evidence.problem(plain) is not None or outputs_differ(plain, evidence):
            continue
        if (problem := evidence.problem(call)) is not None:
            return [f"{given}, your code fails: {problem.message}"] if problem.verdict is Verdict.FAILED else []
        if text := outputs_differ(call, evidence):
            return [f"{given}, your output is wrong: {text}"]
    return []
