"""`attention-gym class …`: a class from the command line, in the administrator's name, and terms to be replayed.

With `--json` standard output holds nothing but JSON, an object a line. The service brings torch and SQLAlchemy, which
other commands do without: so it is imported where it is needed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.cli import class_tables
from grader.cli.data import opened_service
from grader.cli.replay import replay
from grader.cli.text import content_of, echo, said_of, write_anew, write_json
from grader.local import WrongUse
from grader.settings import Settings

if TYPE_CHECKING:
    from grader.store.engine import Database

KEY = Annotated[str, typer.Argument(metavar="CLASS", help="The key of the class.")]
FILE = Annotated[str, typer.Argument(help="A file; `-`: standard input.")]
JSON = Annotated[bool, typer.Option("--json", help="Write JSON, an object a line.")]
AT = Annotated[str, typer.Option("--at", help="As if it was this time: 2026-12-10T09:00:00-05:00; default: now.")]
APPLY = Annotated[bool, typer.Option("--apply", help="Do it; without this it is only shown what would change.")]
LARGEST = 1 << 28  # bytes of a file of events; other files are refused by who reads them
UNCHANGED = "nothing is stored; --apply does it"
Answer = Mapping[str, Any]


def make_app() -> typer.Typer:
    """Return the commands of classes."""
    app = typer.Typer(help="Run a class: roster, assignments, grades; replay a term.", no_args_is_help=True)
    app.command("list")(list_all)
    app.command("create")(create)
    app.command("staff")(staff)
    app.command("copy")(copy)
    app.command("import")(import_roster)
    app.command("assign")(assign)
    app.command("grades")(grades)
    app.command("whatif")(what_if)
    app.command("export")(export)
    app.command("board")(board)
    app.command("mistakes")(mistakes)
    app.command("audit")(audit)
    app.command("replay")(replay)
    return app


def list_all(as_json: JSON = False) -> None:
    """List all classes, the oldest first."""
    with _console(as_json) as console:
        found = console.ask("classes")["classes"]
        console.tell(found, class_tables.classes(found))


def create(
    key: Annotated[str, typer.Argument(metavar="KEY", help="What commands call it; it is never changed.")],
    zone: Annotated[str, typer.Option("--zone", help="Its time zone, such as `Europe/Berlin`.")],
    name: Annotated[str, typer.Option("--name", help="What people read; default: the key.")] = "",
    bank: Annotated[int, typer.Option("--bank", help="The late days that each student has.")] = 0,
    sections: Annotated[list[str] | None, typer.Option("--section", help="A section; may be repeated.")] = None,
    as_json: JSON = False,
) -> None:
    """Begin a class."""
    with _console(as_json, make=True) as console:
        made = console.ask("class", key, name=name or key, zone=zone, bank=bank, sections=sections or [])
        console.tell([made], [f"there is a class {key} now, without people and assignments"])


def staff(
    key: KEY,
    person: Annotated[str, typer.Argument(metavar="EMAIL", help="Their e-mail address, or sign-in name.")],
    name: Annotated[str, typer.Option("--name", help="What the class calls them; default: the address.")] = "",
    role: Annotated[str, typer.Option("--role", help="instructor, or assistant for some sections.")] = "instructor",
    sections: Annotated[list[str] | None, typer.Option("--section", help="Of an assistant; may be repeated.")] = None,
    as_json: JSON = False,
) -> None:
    """Make somebody an instructor or an assistant of a class; who is unknown gets an account without a password."""
    with _console(as_json) as console:
        made = console.ask("staff", key, person=person, name=name or person, role=role, sections=sections or [])
        told = [f"{person} is {role} of {key} now", f"`attention-gym user reset {person}` prints a link for a password"]
        console.tell([made], told)


def copy(
    key: KEY,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The key of the new class.")],
    weeks: Annotated[int, typer.Option("--weeks", help="By how many weeks all dates move.")],
    name: Annotated[str, typer.Option("--name", help="What people read; default: as before.")] = "",
    as_json: JSON = False,
) -> None:
    """Begin a class with another one's settings, sections and assignments, for another term; without its people."""
    named = {"name": name} if name else {}
    with _console(as_json) as console:
        made = console.ask("copy", key, to=new, weeks=weeks, **named)
        rows = [(one["assignment"], one["opens"], one["due"]) for one in made["assignments"]]
        console.tell([made], class_tables.table(("assignment", "opens", "due"), rows))


def import_roster(
    key: KEY,
    file: Annotated[str, typer.Argument(help="The registrar's file, .csv or .xlsx; `-`: standard input.")],
    apply: APPLY = False,
    confirm: Annotated[int | None, typer.Option("--confirm", help="How many leave, where these are many.")] = None,
    as_json: JSON = False,
) -> None:
    """Bring a class to what a roster says: who is new, back, moved or renamed, and who leaves."""
    from grader.rules.roster import LARGEST_FILE, BadFile
    from grader.service.classes.spreadsheet import csv_text

    with _console(as_json) as console:
        try:
            text = csv_text(content_of(file, LARGEST_FILE))
        except BadFile as broken:
            raise WrongUse(f"{file!r} is no roster: {broken}") from None
        given = {} if confirm is None else {"confirm": confirm}
        done = console.ask("import", key, csv=text, dry_run=not apply, **given)
        counts = ", ".join(f"{what} {number}" for what, number in done.items())
        console.tell([done], [counts, *([] if apply else [UNCHANGED])])


def assign(key: KEY, file: FILE, apply: APPLY = False, as_json: JSON = False) -> None:
    """Make assignments, or change those that there are: an object with the fields of `assign`, or a list of them."""
    with _console(as_json) as console:
        given = _json(file)
        several = given if isinstance(given, list) else [given]
        if not all(isinstance(one, dict) for one in several):
            raise WrongUse(f"{file!r} is to hold an object with the fields of an assignment, or a list of such")
        done = console.ask("assign_all", key, assignments=several, dry_run=not apply)
        made = [(one["assignment"], "new" if one["new"] else "changed") for one in done["assignments"]]
        lines = [*class_tables.table(("assignment", ""), made), *class_tables.changes(done)]
        console.tell([done], [*lines, *([] if apply else [UNCHANGED])])


def grades(
    key: KEY,
    at: AT = "",
    person: Annotated[str, typer.Option("--as", help="What this student sees of it, by e-mail.")] = "",
    as_json: JSON = False,
) -> None:
    """Show the gradebook of a class, or what one student sees."""
    with _console(as_json, at) as console:
        if person:
            own = console.ask_as(person, "own", key, person=person)
            found, lines = own, class_tables.grades([own["own"]])
        else:
            found = console.ask("grades", key)
            people, figures = found["people"], found["statistics"]
            lines = iter([*class_tables.grades(people), "", *class_tables.figures(figures)])
        console.tell([found], lines)


def what_if(key: KEY, file: FILE, at: AT = "", as_json: JSON = False) -> None:
    """Show what a change would do: an object with its `do` and that event's fields. Nothing is stored."""
    from grader.service.classes.events import wrong_fields

    with _console(as_json, at) as console:
        change = _json(file)
        if wrong := wrong_fields("whatif", {"class": key, "change": change}):
            raise WrongUse(f"{file!r}: {wrong}")
        found = console.ask("whatif", key, change=change)
        console.tell([found], class_tables.changes(found))


def export(
    key: KEY,
    form: Annotated[str, typer.Option("--format", help="csv, canvas, moodle, json; of an attempt gradescope, junit.")],
    at: AT = "",
    missing_as_zero: Annotated[bool, typer.Option("--missing-as-zero", help="Write 0.00 where it is missing.")] = False,
    attempt: Annotated[str | None, typer.Option("--attempt", help="The id of an attempt.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file to write; default: standard output.")] = None,
) -> None:
    """Write the gradebook for another program, or one attempt's report."""
    with _console(False, at) as console:
        given = {"attempt": attempt} if attempt is not None else {}
        made = console.ask("export", key, format=form, missing_as_zero=missing_as_zero, **given)
    if made["left_out"]:
        echo(f"left out, having no e-mail address or id to be known by: {', '.join(made['left_out'])}", err=True)
    if out is None:
        typer.echo(made["text"].encode(errors="replace"), nl=False)  # UTF-8, whatever the terminal's encoding is
        return
    try:
        was_there = write_anew(out, made["text"].encode())
    except (OSError, ValueError) as error:  # ValueError: a name with a zero in it
        raise WrongUse(f"{str(out)!r} cannot be written: {getattr(error, 'strerror', None) or error}") from error
    echo(said_of(out, was_there))


def board(
    key: KEY,
    assignment: Annotated[str, typer.Argument(help="The key of the assignment.")],
    exercise: Annotated[str, typer.Argument(help="The id of an exercise in it.")],
    at: AT = "",
    as_json: JSON = False,
) -> None:
    """Show the board of an item: who has the best score, in how many attempts, and how early."""
    with _console(as_json, at) as console:
        found = console.ask("board", key, assignment=assignment, exercise=exercise)
        console.tell([found], class_tables.board(found["rows"]))


def mistakes(
    key: KEY,
    exercise: Annotated[str | None, typer.Option("--exercise", help="The id of one exercise.")] = None,
    assignment: Annotated[str | None, typer.Option("--assignment", help="The key of one assignment.")] = None,
    section: Annotated[str | None, typer.Option("--section", help="One section.")] = None,
    week: Annotated[str | None, typer.Option("--week", help="The first of seven days: 2026-10-05.")] = None,
    as_json: JSON = False,
) -> None:
    """Show what a class misunderstands: how many students, in how many attempts, who has got over it, who is stuck."""
    asked = {"exercise": exercise, "assignment": assignment, "section": section, "week": week}
    with _console(as_json) as console:
        given = {name: value for name, value in asked.items() if value is not None}
        found = console.ask("mistakes", key, **given)["mistakes"]
        console.tell(found, class_tables.mistakes(found))


def audit(key: KEY, as_json: JSON = False) -> None:
    """Show what staff have done to a class: when, who, what and why, the oldest first."""
    with _console(as_json) as console:
        lines = console.ask("audit", key)["lines"]
        console.tell(lines, class_tables.audit(lines))


@dataclass(frozen=True, slots=True)
class _Console:
    """Asks in the administrator's name, and tells the answers as JSON or as lines for people."""

    database: Database
    as_json: bool

    def ask(self, do: str, key: str | None = None, **fields: Any) -> Answer:
        """Return the answer of an event; NotAllowed if it is refused."""
        from grader.service.classes.requests import ADMINISTRATOR

        return self.ask_as(ADMINISTRATOR, do, key, **fields)

    def ask_as(self, by: str, do: str, key: str | None, **fields: Any) -> Answer:
        """Return the answer to somebody's question; a refusal is told as JSON too where that is wanted."""
        from grader.service.classes.answers import Classes
        from grader.service.classes.requests import ClassRefusal

        named = {} if key is None else {"class": key}
        try:
            return Classes(self.database, clock=time.time).do(by, do, {**named, **fields})
        except ClassRefusal as refusal:
            if self.as_json:
                write_json({"ok": False, "code": refusal.code, **refusal.more, "why": str(refusal)})
            raise WrongUse(_said(refusal)) from None

    def tell(self, answers: Iterable[Answer], lines: Iterable[str]) -> None:
        """Write the answers."""
        if self.as_json:
            for answer in answers:
                write_json(answer)
            return
        for line in lines:
            echo(line)


def _said(refusal: Any) -> str:
    """Return a refusal in one line, with each row of a roster that is wrong and the time that a skipped one becomes."""
    errors = [f"line {one['line']}: {one['code']}" for one in refusal.more.get("errors", ())]
    return f"{refusal} {'; '.join(errors)}".strip() if len(errors) > 1 else str(refusal)


@contextmanager
def _console(as_json: bool, at: str = "", *, make: bool = False) -> Iterator[_Console]:
    from grader.service.classes.replay import BadEvents, read_time

    with _database(make=make) as database:
        if at:
            try:
                now = read_time(at)
            except BadEvents as wrong:
                raise WrongUse(f"--at: {wrong}") from None
            database.clock = lambda: now
        yield _Console(database, as_json)


@contextmanager
def _database(*, make: bool) -> Iterator[Database]:
    """Yield the database; where there is none it is made, or WrongUse says so."""
    from grader.installation import opened

    settings = Settings.from_environment()
    with closing(opened(settings) if make else opened_service(settings)) as database:
        yield database


def _json(file: str) -> Any:
    """Return the value that a JSON file holds; its numbers are exact."""
    try:
        return json.loads(content_of(file, LARGEST).decode("utf-8-sig"), parse_float=Decimal)
    except (ValueError, RecursionError) as wrong:
        raise WrongUse(f"{file!r} is no JSON in UTF-8 ({wrong})") from None
