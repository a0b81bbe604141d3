"""`attention-gym exercise`: list, start, write, prove, pack and tabulate exercises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader import authoring, local
from grader.cli.text import said_of, write_anew
from grader.errors import AuthorError, GraderFault
from grader.exercise.catalog import Catalog
from grader.exercise.spec import Dimension
from grader.judge.text import one_line
from grader.local import LocalGrader, WrongUse

if TYPE_CHECKING:  # it brings torch, which listing and starting do without
    from grader.gate import GateResult
    from grader.gate.prove import Ratio

FAILED = 1
COMMAND = "attention-gym exercise table --write docs/exercises.md"
_TOP = f"""\
# The exercises

<!-- Generated; do not edit by hand. To renew it: {COMMAND} -->

{{exercises}} exercises in {{tracks}} tracks, in the order in which to do them. `make check` runs the gate of every
exercise. It accepts an exercise only if all of this holds:

- each *known mistake* loses points in its own dimension, and its report names that mistake alone and with certainty;
- each *right example* gets full marks, and each *wrong example* loses points where its first line says;
- trivial answers (zeros, means, copies of an input) do not get through.

So the numbers below count complete sets:
{{mistakes}} known mistakes, {{right}} right examples and {{wrong}} wrong examples in all.
"""
_HEAD = """\
| exercise | id | level | graded on | known mistakes | right examples | wrong examples |
|---|---|---|---|--:|--:|--:|
"""
_COLUMNS = ("mistakes caught", "named", "right accepted", "wrong refused", "trivial refused", "one grade")


def make_app() -> typer.Typer:
    """Return the commands on exercises."""
    app = typer.Typer(help="The exercises: list, start, write, prove, pack and tabulate them.")
    app.command("list")(list_all)
    app.command("start")(start)
    app.command("new")(begin)
    app.command("check")(check)
    app.command("pack")(pack)
    app.command("table")(table)
    return app


def list_all() -> None:
    """List the exercises in the order in which to do them."""
    catalog = Catalog.load()
    width = max((len(name) for name in catalog), default=0)
    track = ""
    for name, exercise in catalog.items():
        spec = exercise.spec
        if spec.track != track:
            track = spec.track
            typer.echo(f"\n{track}")
        typer.echo(f"  {name:{width}}  {spec.difficulty:6}  {spec.minutes:3} min  {spec.title}")


def start(exercise: Annotated[str, typer.Argument(help="The exercise's id.")]) -> None:
    """Write the starter to solutions/<exercise>.py; a file that is there stays as it is."""
    starter = local.find_exercise(exercise).starter
    path = Path(local.FOLDER, f"{exercise}.py")
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(starter)
    except FileExistsError as error:
        raise WrongUse(f"`{error.filename}` is there already and stays as it is; rename it to start afresh") from error
    except OSError as error:
        raise WrongUse(f"`{path}` cannot be written: {error.strerror}") from error
    typer.echo(f"wrote {path}; fill it in, then run: pytest {path}")


def begin(exercise: Annotated[str, typer.Argument(help="The new exercise's id, in snake_case.")]) -> None:
    """Begin a new exercise: a folder and a reference to fill in, which the gate refuses until they are right."""
    for path in authoring.begin(exercise):
        typer.echo(f"wrote {path}")
    typer.echo(
        f"fill them in as docs/authors.md says, with more right and wrong answers in exercises/{exercise}/examples/;"
    )
    typer.echo(f"then run: attention-gym exercise check {exercise}")


@dataclass(frozen=True, slots=True)
class GateTable:
    """A line per exercise, the names `width` wide; with `markdown`, without what differs from run to run."""

    width: int
    markdown: bool = False

    def head(self) -> str:
        """Return the line of titles."""
        if self.markdown:
            columns = ("exercise", "graded on", *_COLUMNS[:-1])
            return f"| {' | '.join(columns)} |\n|---|{'---|' * (len(columns) - 1)}"
        return f"{'exercise':{self.width}}  {'  '.join(_COLUMNS)}  verdict"

    def row(self, outcome: GateResult) -> str:
        """Return the line of one exercise."""
        said = "right" if outcome.passed else f"{len(outcome.complaints)} to fix"
        seconds = f"{outcome.seconds * 1000:.0f} ms"
        graded = (", ".join(outcome.dimensions),) if self.markdown else ()
        return self._line(outcome.exercise, (*graded, *_figures(outcome)), seconds, said)

    def total(self, outcomes: Sequence[GateResult]) -> str:
        """Return the line of all exercises together."""
        first, *rest = [_figures(outcome) for outcome in outcomes]
        for figures in rest:
            first = tuple(one + other for one, other in zip(first, figures, strict=True))
        failed = sum(not outcome.passed for outcome in outcomes)
        graded = ("",) if self.markdown else ()
        return self._line("all together", (*graded, *first), "", f"{failed} to fix" if failed else "right")

    def _line(self, name: str, figures: Sequence[object], seconds: str, said: str) -> str:
        if self.markdown:
            shown = name if " " in name else f"`{name}`"
            return f"| {shown} | {' | '.join(map(str, figures))} |"
        cells = (f"{cell!s:>{len(title)}}" for cell, title in zip((*figures, seconds), _COLUMNS, strict=True))
        return f"{name:{self.width}}  {'  '.join(cells)}  {said}"


def _figures(outcome: GateResult) -> tuple[Ratio, ...]:
    return outcome.caught, outcome.named, outcome.accepted, outcome.refused, outcome.trivial


def check(
    exercises: Annotated[list[str] | None, typer.Argument(help="Ids; --all for every exercise.")] = None,
    all: Annotated[bool, typer.Option("--all", help="Prove every exercise.")] = False,
    seed: Annotated[int, typer.Option(help="What the tensors are drawn from, 0 or more.")] = local.SEED,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown, without times.")] = False,
) -> None:
    """Prove exercises right; exits with 1 and says what is wrong in plain sentences if they are not."""
    local.check_seed(seed)
    names = _chosen(exercises or [], all)
    table = GateTable(max(len(name) for name in (*names, "all together")), markdown=markdown)
    typer.echo(table.head())
    with LocalGrader() as own:
        outcomes = [_prove(name, seed, own, table) for name in names]
    if len(outcomes) > 1:
        typer.echo(table.total(outcomes))
    if any(not outcome.passed for outcome in outcomes):
        raise typer.Exit(FAILED)


def table(
    write: Annotated[Path | None, typer.Option(help="Write the page into this file instead of the terminal.")] = None,
) -> None:
    """Print the page of all exercises with the numbers of their known mistakes and examples, as Markdown."""
    page = exercise_page(Catalog.load())
    if write is None:
        typer.echo(page, nl=False)
        return
    try:
        was_there = write_anew(write, page.encode())
    except OSError as error:
        raise WrongUse(f"`{write}` cannot be written: {error.strerror}") from error
    typer.echo(said_of(write, was_there))


def exercise_page(catalog: Catalog) -> str:
    """Return `docs/exercises.md`: what each exercise is graded on, and how many known answers its gate holds."""
    from grader.checks.registry import check_of  # here: it brings torch
    from grader.examples import read_examples

    tables, counted, track = [], Counter[str](), ""
    for exercise in catalog.values():
        spec = exercise.spec
        if spec.track != track:
            track = spec.track
            tables.append(f"\n## {track}\n\n{_HEAD}")
            counted["tracks"] += 1
        is_right = [example.loses is None for example in read_examples(exercise.folder)]
        counts = {"mistakes": len(exercise.mistakes), "right": sum(is_right), "wrong": is_right.count(False)}
        counted.update(counts)
        paid = {check_of(one).dimension for one in spec.checks if one.points}
        cells = (
            f"[{spec.title}](../exercises/{exercise.id}/statement.md)",
            f"`{exercise.id}`",
            f"{spec.difficulty}, {spec.minutes} min",
            ", ".join(dimension for dimension in Dimension if dimension in paid),
            *map(str, counts.values()),
        )
        tables.append(f"| {' | '.join(cells)} |\n")
    return _TOP.format(exercises=len(catalog), **counted) + "".join(tables)


def pack(
    exercise: Annotated[str, typer.Argument(help="The exercise's id.")],
    seed: Annotated[
        int | None, typer.Option(help="What the tensors are drawn from; a new one if it is left out.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder that the pack is written into.")] = Path("packs"),
    zip: Annotated[bool, typer.Option("--zip", help="Write one zip file in place of a folder.")] = False,
) -> None:
    """Write a pack for a student: an exercise that checks itself with pytest, without its reference."""
    drawn = local.some_seed(seed)
    chosen = local.find_exercise(exercise)
    from grader.pack import write  # here: it brings torch

    path = out / (f"{exercise}.zip" if zip else exercise)
    files = write.contents(chosen, drawn)
    try:
        (write.write_zip if zip else write.write_folder)(files, path)
    except FileExistsError as error:
        raise WrongUse(f"`{error.filename}` is there already and stays as it is; name another folder: --out") from error
    except OSError as error:
        raise WrongUse(f"`{path}` cannot be written: {error.strerror}") from error
    typer.echo(f"wrote {one_line(str(path))}; its README.md says how to use it")


def _chosen(named: Sequence[str], all_of_them: bool) -> Sequence[str]:
    known = local.exercise_ids()
    if not named and not all_of_them:
        raise WrongUse("name the exercises to check, or say --all")
    for name in named:
        if name not in known:
            local.find_exercise(name)  # says which names are alike
    return known if all_of_them else named


def _prove(name: str, seed: int, own: LocalGrader, table: GateTable) -> GateResult:
    from grader import gate  # here: it brings torch, and the box imports it at the same time

    try:
        outcome = gate.check_exercise(local.find_exercise(name), seed=seed, box=own.box)
    except AuthorError as error:
        outcome = gate.GateResult(name, (str(error),))
    except GraderFault:
        raise
    except Exception as error:  # noqa: BLE001 - an author's own code runs here, and may raise anything
        outcome = gate.GateResult(name, (f"its code fails with {type(error).__name__}: {error}",))
    typer.echo(table.row(outcome))
    for complaint in outcome.complaints:
        typer.echo(f"  - {complaint}", err=table.markdown)
    return outcome
