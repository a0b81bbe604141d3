"""What the fuzzer tells wrongly: honest answers of every kind of exercise, recorded, those with a trace among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from benchmarks.evenly import evenly
from benchmarks.pieces import Piece, pieces
from grader.box.inline import InlineBox
from grader.box.observations import Event, Observations, TrapHit
from grader.box.plan import Kind, Plan
from grader.box.run import Ending, Limits, Run
from grader.box.wire.answer import END, pack
from grader.examples import read_examples
from grader.exercise.catalog import Catalog, Exercise
from grader.exercise.spec import CaseSpec
from grader.judge.attempt import Outcome, attempt
from grader.judge.explain.location import locate
from grader.judge.explain.trace import WrongAnswer
from grader.judge.grade import observe_reference
from grader.judge.report import Location
from grader.judge.sheet import Sheet, of_cases

CASES = 3  # of each exercise; more only make the answers longer
WRONG = 3  # examples of each exercise


@dataclass(frozen=True, slots=True)
class Subject:
    """One exercise on a few of its cases, what the reference gives there, and answers that were recorded.

    `find` is there for the plan of a traced call: it looks for where an answer begins to differ in what was sent back.
    `outcome` is there for each of the two runs of a training, whose other run goes as it was recorded.
    """

    exercise: Exercise
    sheet: Sheet
    expected: Observations
    rounded: Observations
    answers: tuple[tuple[Piece, ...], ...]
    find: Callable[[Observations, Ending], Location | None] | None = None
    outcome: Callable[[Run], Outcome] | None = None


def record(catalog: Catalog) -> list[Subject]:
    """Return an exercise for every way of driving an entry point, the first of the catalogue, with its traced calls.

    Of those that train, all are there, with both of their runs.
    """
    chosen: dict[tuple[Kind, str], Exercise] = {}
    for exercise in catalog.values():
        for case in exercise.spec.cases:
            entry = exercise.spec.part_of(case).entry
            chosen.setdefault((entry.kind, entry.driver), exercise)
    return [subject for driven, exercise in chosen.items() for subject in _subjects(exercise, *driven)]


def _subjects(exercise: Exercise, kind: Kind, driver: str) -> Iterator[Subject]:
    sheet = _short(exercise, kind, driver)
    if kind.trains:
        yield from _trained(exercise, sheet, exercise.reference_path.read_text(encoding="utf-8"))
        return
    wrong = [example.path for example in read_examples(exercise.folder) if example.loses is not None]
    answers = [exercise.reference_path, *evenly(wrong, WRONG)]
    sources = [path.read_text(encoding="utf-8") for path in answers]
    yield _subject(exercise, sheet, sources)
    for source in sources[1:]:
        yield from _traced(exercise, sheet, source)


def _subject(exercise: Exercise, sheet: Sheet, sources: list[str]) -> Subject:
    runs = [InlineBox().run(sheet.plan, source, Limits()) for source in (*sources, "raise ValueError('no')")]
    expected, rounded = observe_reference(exercise, sheet.plan)
    return Subject(exercise, sheet, expected, rounded, _answers(sheet.plan, runs))


def _answers(plan: Plan, runs: list[Run]) -> tuple[tuple[Piece, ...], ...]:
    """Return what came of runs as it was sent, and that of the first with a trapped call before it."""
    streams = [b"".join(pack(event, plan) for event in _events(run.observations)) + END for run in runs]
    touch = TrapHit("torch.softmax", 3, "f")
    streams += [pack(replace(touch, loading=loading), plan) + streams[0] for loading in (False, True)]
    return tuple(tuple(pieces(stream)) for stream in streams)


def _trained(exercise: Exercise, sheet: Sheet, source: str) -> Iterator[Subject]:
    """Yield the run that trains, and the one in which what it has left is asked."""
    recorded: dict[tuple[str, ...], tuple[Plan, Run]] = {}
    run, truth = partial(InlineBox().run, limits=Limits()), partial(observe_reference, exercise)

    def calls(plan: Plan) -> tuple[str, ...]:
        return tuple(call.name for call in plan.calls)

    def listen(plan: Plan, source: str) -> Run:
        recorded[calls(plan)] = (plan, run(plan, source))
        return recorded[calls(plan)][1]

    def outcome(about: tuple[str, ...], told: Run) -> Outcome:
        def answer(plan: Plan, source: str) -> Run:
            if calls(plan) == about:
                return told
            return recorded[calls(plan)][1] if calls(plan) in recorded else run(plan, source)

        return attempt(sheet, source, answer, truth, known=exercise.attempts)

    assert attempt(sheet, source, listen, truth, known=exercise.attempts).run.ending is Ending.FINISHED
    for names, (plan, done) in recorded.items():
        alone = replace(sheet, plan=plan)
        answers = _answers(plan, [done])
        yield Subject(exercise, alone, Observations(), Observations(), answers, outcome=partial(outcome, names))


def _traced(exercise: Exercise, sheet: Sheet, source: str) -> Iterator[Subject]:
    """Yield what is asked for to find where a wrong answer begins to differ, with what came back."""
    run = partial(InlineBox().run, source=source, limits=Limits())
    outcome = attempt(sheet, source, partial(InlineBox().run, limits=Limits()), partial(observe_reference, exercise))
    asked: list[tuple[Plan, Run]] = []

    def listen(plan: Plan) -> Run:
        asked.append((plan, run(plan)))
        return asked[-1][1]

    def find(observed: Observations, ending: Ending) -> Location | None:
        return locate(WrongAnswer(exercise, outcome, source, lambda _: Run(observed, ending)))

    locate(WrongAnswer(exercise, outcome, source, listen))
    for plan, done in asked:
        if any(call.trace for call in done.observations.calls.values()):
            stream = b"".join(pack(event, plan) for event in _events(done.observations)) + END
            alone = replace(sheet, plan=plan, items=())
            yield Subject(exercise, alone, Observations(), Observations(), (tuple(pieces(stream)),), find)


def _short(exercise: Exercise, kind: Kind, driver: str) -> Sheet:
    """Return the sheet of a few small cases, with every check that they have."""
    entries = {case.name: exercise.spec.part_of(case).entry for case in exercise.spec.cases}
    wanted = {name for name, entry in entries.items() if (entry.kind, entry.driver) == (kind, driver)}
    driven = [case for case in exercise.spec.cases if case.name in wanted]
    few = {case.name for case in sorted(driven, key=_size)[:CASES]}
    checks = tuple(
        check.model_copy(update={"cases": kept})
        for check in exercise.spec.checks
        if (kept := tuple(name for name in check.cases if name in few))
    )
    return of_cases(exercise.spec.model_copy(update={"checks": checks}), exercise.cases(0))


def _size(case: CaseSpec) -> int:
    return sum(size if isinstance(size, int) else sum(size) for size in case.sizes.values())


def _events(observations: Observations) -> Iterator[Event]:
    if observations.loading is not None:
        yield observations.loading
    yield from observations.builds.values()
    yield from observations.calls.values()
