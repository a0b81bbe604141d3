"""The numbers of a whole term as its pages show them, to staff and to students, at the moments when they matter."""

from __future__ import annotations

import csv
import html
import io
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from argon2 import PasswordHasher

from grader.exercise.catalog import Catalog
from grader.jobs.engine import EmbeddedEngine
from grader.jobs.tryouts import TryoutThread
from grader.service import Service
from grader.service.classes.replay import TermClock, play, read_events
from grader.service.service import Rules
from grader.settings import Settings
from grader.store import classes, people
from grader.store.engine import Database
from tests.jobs.classroom import full_marks, open_database
from tests.pages.conftest import serving
from tests.term import dial, events

BEFORE, AFTER, DELETED = "12-10T09:00", "12-11T11:00", "12-15T11:00"
KEYS = tuple(key for key in events.ASSIGNMENTS if key[0] == "A")
# Points of each assignment with the late days that it takes from the bank, points of how many in all, and the bank.
EXPECTED = """
    ada  10.00 20.00     30.00     16.00 20.00     96.00/100 4
    ben   8.90 11.00(2)  30.00(1)  12.00 16.00(1)  77.90/100 0
    cleo  9.45 19.50     30.00(2)  20.00 20.00(1)  98.95/100 1
    dov  10.00 20.00(2)  21.00     18.00 20.00(2)  89.00/100 0
    eve   6.62 20.00     30.00(1)  20.00 13.00     89.62/100 3
    fay   9.50 10.00     30.00(2)  20.00 20.00(2)  89.50/100 0
    gus   9.18 20.00     30.00(1)  20.00 20.00     99.18/100 3
    hana 10.00 18.00     30.00     20.00 20.00     98.00/100 4
    ivo   8.08 20.00     30.00(2)  20.00 20.00     98.08/100 2
    jun  10.00 20.00     24.00     20.00 20.00     94.00/100 4
    kim   7.53  7.00     13.50      1.00  3.00     32.03/100 4
    lea  n/a   n/a       30.00     20.00 20.00     70.00/70  4
    moe   0.00  0.00      0.00      0.00  0.00      0.00/100 4
    nia  10.00 20.00(1)  30.00     20.00 20.00    100.00/100 3
    oli  10.00 20.00(2)  30.00(2)  20.00 16.00     96.00/100 0
    pia   8.35 20.00     30.00     EX    20.00     78.35/80  4
    quy  10.00 20.00     30.00     20.00 20.00    100.00/100 4
"""
REGRADED = """
    dov  10.00 18.00(2)  21.00     18.00 20.00(2)  87.00/100 0
    eve   6.62 10.00     30.00(1)  20.00 13.00     79.62/100 3
    nia  10.00 19.00     30.00     20.00 20.00     99.00/100 4
    oli  10.00 16.00     30.00(2)  20.00 20.00(1)  96.00/100 1
"""
FIGURES = {  # by assignment: how many have points, their mean, full marks, and zeros
    BEFORE: {"A-1": (199, "8.73", 144, 1), "A-2": (199, "17.41", 147, 1), "A-3": (200, "26.24", 150, 1),
             "A-4": (199, "17.47", 149, 1), "A-5": (200, "17.44", 149, 1)},
    AFTER: {"A-1": (199, "8.73", 144, 1), "A-2": (199, "17.33", 143, 1), "A-3": (200, "26.24", 150, 1),
            "A-4": (199, "17.47", 149, 1), "A-5": (200, "17.46", 150, 1)},
}  # fmt: skip
GRADEBOOK, HOME, AUDIT, OWN = "/class/gradebook?class=A", "/class?class=A", "/class/audit?class=A", "/assignments"
Table = dict[str, list[str]]


def _cell(who: str, key: str) -> str:
    return f"/class/cell?class=A&assignment={key}&person={quote(events.mail(who))}"


def _student(who: str) -> str:
    return f"/class/student?class=A&person={quote(events.mail(who))}"


def _table(text: str) -> Table:
    return {row.split()[0]: row.split()[1:] for row in text.strip().splitlines()}


NAMED = tuple(_table(EXPECTED))
# What is looked at: when on New York's wall, by whom, and which page.
LOOKS = (
    ("09-27T18:00", "iris", _cell("dov", "A-1")), ("09-28T10:30", "iris", _cell("dov", "A-1")),
    ("09-29T00:16", "eve", OWN), ("10-11T13:00", "fay", OWN), ("10-11T18:30", "fay", OWN),
    ("10-12T11:00", "ben", OWN), ("10-19T09:30", "iris", GRADEBOOK), ("10-25T19:00", "hana", OWN),
    ("11-11T12:00", "ada", OWN), ("12-06T18:00", "ben", OWN), ("12-07T12:02", "kim", OWN), ("12-07T12:02", "ada", OWN),
    ("12-09T09:10", "kim", OWN),
    *((when, "iris", page) for when in (BEFORE, AFTER, DELETED) for page in (GRADEBOOK, HOME)),
    *((when, "iris", f"{GRADEBOOK}&section={name}") for when in (BEFORE, AFTER) for name in ("A1", "A2")),
    *((BEFORE, "iris", _cell(who, key)) for who in NAMED for key in KEYS), (AFTER, "iris", _cell("cleo", "A-2")),
    *((when, who, OWN) for when in (BEFORE, AFTER) for who in NAMED),
    *((BEFORE, "iris", _student(who)) for who in NAMED),
    *((BEFORE, "iris", f"/class/export?class=A&format={form}") for form in ("csv", "canvas", "moodle")),
    (BEFORE, "bo", "/class/gradebook?class=B"), (BEFORE, "b001", GRADEBOOK),
    (BEFORE, "iris", f"{GRADEBOOK}&find=Zhang"), (DELETED, "iris", AUDIT),
)  # fmt: skip
ROSTERS = [event["csv"] for event in events.given() if event["do"] == "import"]
ROSTER = "/class/roster?class=A"
# Forms that are sent without the second click, which would do what they show; the first one cannot be done.
PREVIEWS = {
    ("09-07T10:30", "iris", ROSTER): {"csv": ROSTERS[0]},
    ("09-28T09:30", "iris", _cell("dov", "A-1")): {
        "do": "except", "field": "due", "value": "2026-09-29T23:59", "reason": "ill"
    },
    ("10-19T08:30", "iris", ROSTER): {"csv": ROSTERS[-2]},
}  # fmt: skip
Seen = Mapping[tuple[str, str, str], str]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Play the term once, and give the pages that were looked at meanwhile, each at its time."""
    folder, clock = tmp_path_factory.mktemp("term"), TermClock()
    looks = sorted((_at(when), who, page, when) for when, who, page in (*LOOKS, *PREVIEWS))
    found: dict[tuple[str, str, str], str] = {}
    tokens: dict[tuple[str, str], str] = {}
    with closing(open_database(folder)) as database:
        service = _service(folder, database, clock)
        term = read_events(events.lines(events.given()).encode())
        with serving(service, Settings(data=folder)) as site:

            def look(until: float) -> None:
                while looks and looks[0][0] < until:
                    clock.now, who, page, when = looks.pop(0)
                    if (when, who) not in tokens:
                        tokens[when, who] = _session_of(service, who)
                    found[when, who, page] = _page(site.url, tokens[when, who], page, PREVIEWS.get((when, who, page)))

            playing = play(database, term, clock)
            for event in term:
                look(event.at)
                next(playing)
            look(float("inf"))
            playing.close()
    return found


def _at(wall: str) -> float:
    return datetime.fromisoformat(f"2026-{wall}").replace(tzinfo=events.ZONES["A"]).timestamp() + 1


def _service(folder: Path, database: Database, clock: TermClock) -> Service:
    engine = EmbeddedEngine(database, full_marks, workers=folder / "workers", clock=clock)
    return Service(
        database,
        Catalog.load(dial.write(folder / "catalogue")),
        engine,
        rules=Rules(class_code="green-tree", secret=b"secret", slots={"cpu": 1}),
        tryouts=TryoutThread(lambda request: request.example),
        box_name="nothing at all",
        hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1),
        clock=clock,
    )


def _session_of(service: Service, who: str) -> str:
    with service.condition.database.read() as session:
        id = classes.find_person(session, events.mail(who))
        user = None if id is None else people.user(session, id)
    assert user is not None
    return service.begin_session(user)


def _page(url: str, token: str, page: str, form: Mapping[str, str] | None) -> str:
    with httpx.Client(base_url=url, cookies={"attention_gym": token}, timeout=20) as client:
        answer = client.get(page) if form is None else client.post(page, data=form)
    assert answer.status_code in ((200,) if form is None else (200, 422)), page
    return answer.text


def _text(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def _gradebook(page: str) -> Table:
    """Return the rows of a gradebook as `EXPECTED` has them, by the name before the @."""
    rows = re.findall(r'<tr><th scope="row"><a href="[^"]*person=([^"&%]+)%40[^"]*">.*?</tr>', page, re.DOTALL)
    found = {}
    for who, row in zip(rows, re.findall(r'<tr><th scope="row"><a .*?</tr>', page, re.DOTALL), strict=True):
        _, percent, total, bank, *cells = (_text(cell) for cell in re.findall(r"<td.*?</td>", row, re.DOTALL))
        earned, _, possible = total.partition(" of ")
        assert percent == _percent(Decimal(earned), Decimal(possible)), who
        found[who] = [*map(_points, cells), f"{Decimal(earned):.2f}/{possible}", bank.partition(" of ")[0]]
    return found


def _percent(earned: Decimal, possible: Decimal) -> str:
    return f"{(earned * 100 / possible).quantize(Decimal('0.01'), 'ROUND_HALF_UP')} %" if possible else "\u2013"


def _points(cell: str) -> str:
    """Return a cell's text as `EXPECTED` has it: `11 2 late days` is `11.00(2)`."""
    found = re.fullmatch(r"(\S+)(?: (\d+) late days?| override| missing| excused| not assigned)?", cell)
    assert found is not None, cell
    points, days = found.groups()
    number = f"{Decimal(points):.2f}" if points[0].isdigit() else points
    return f"{number}({days})" if days else number


def _own(page: str) -> Table:
    """Return a student's page as `EXPECTED` has a line, but for the late days of each assignment, by class."""
    found = {}
    for section in re.findall(r"<section>.*?</section>", page, re.DOTALL):
        name = _text(re.findall(r"<h2>.*?</h2>", section)[0])
        facts = re.search(r"(\S+) of (\S+) points, (\S+) % · (\d+) of (\d+) late days left", _text(section))
        assert facts is not None
        heads = re.findall(r'<div class="gym-agenda-head">(.*?)</div>', section, re.DOTALL)
        points = [re.search(r"gym-agenda-points\">(\S+) of", head) for head in heads]
        states = [_text(re.findall(r"<span.*?</span>", head)[0]) for head in heads]
        cells = [one[1] if one else state for one, state in zip(points, states, strict=True)]
        found[name] = [*cells, f"{facts[1]}/{facts[2].removesuffix('.00')}", facts[4]]
    return found


def _as_own(line: list[str]) -> list[str]:
    """Return a line of `EXPECTED` as a student's page words it."""
    words = {"n/a": "not for you", "EX": "excused"}
    return [words.get(cell, cell.partition("(")[0]) for cell in line]


def test_the_gradebook_has_every_number_before_the_regrade(seen: Seen) -> None:
    page = seen[BEFORE, "iris", GRADEBOOK]
    rows = _gradebook(page)

    assert {who: rows[who] for who in NAMED} == _table(EXPECTED)
    assert len(rows) == 200
    assert page.count('data-key="100.00">100.00 %') == 3
    assert "Mean median 87.33 % 90.00 %" in _text(page)


def test_the_gradebook_has_every_number_after_the_regrade(seen: Seen) -> None:
    """Cleo's override holds, Nia gets a late day back, and so Oli gets points for another assignment."""
    page = seen[AFTER, "iris", GRADEBOOK]
    before, rows = _gradebook(seen[BEFORE, "iris", GRADEBOOK]), _gradebook(page)

    assert {who: row for who, row in rows.items() if row != before[who]} == _table(REGRADED)
    assert page.count('data-key="100.00">100.00 %') == 2
    assert "Mean median 87.27 % 90.00 %" in _text(page)


def test_a_deletion_leaves_the_figures_of_the_others(seen: Seen) -> None:
    page = seen[DELETED, "iris", GRADEBOOK]
    before, rows = _gradebook(seen[AFTER, "iris", GRADEBOOK]), _gradebook(page)

    assert {**rows, "quy": before["quy"]} == before
    assert page.count('data-key="100.00">100.00 %') == 1
    assert "Mean median 87.20 % 90.00 %" in _text(page)


@pytest.mark.parametrize("when", [BEFORE, AFTER])
def test_the_figures_of_each_assignment_are_on_the_first_page_of_the_class(seen: Seen, when: str) -> None:
    found = re.findall(
        r"<h2>(A-\d)</h2>.*?(\d+) with points, mean (\S+), median \S+, (\d+) full, (\d+) at zero",
        seen[when, "iris", HOME], re.DOTALL,
    )  # fmt: skip

    figures = {key: (int(n), mean, int(full), int(zero)) for key, n, mean, full, zero in found}
    assert figures == FIGURES[when]


@pytest.mark.parametrize(
    ("when", "section", "said"),
    [
        (BEFORE, "A1", (102, "84.25")), (BEFORE, "A2", (98, "90.54")),
        (AFTER, "A1", (102, "84.14")), (AFTER, "A2", (98, "90.52")),
    ],
)  # fmt: skip
def test_the_gradebook_of_a_section_has_the_figures_of_that_section(
    seen: Seen, when: str, section: str, said: tuple[int, str]
) -> None:
    page = seen[when, "iris", f"{GRADEBOOK}&section={section}"]
    mean = re.search(rf"Mean median {section} (\S+) %", _text(page))

    assert mean is not None
    assert (len(_gradebook(page)), mean[1]) == said


def test_who_is_looked_for_has_no_mean_of_everybody_below(seen: Seen) -> None:
    page = seen[BEFORE, "iris", f"{GRADEBOOK}&find=Zhang"]

    assert [*_gradebook(page)] == ["a005", "a006"]
    assert "Mean median" not in _text(page)


def test_an_assistant_reads_the_lines_of_their_section_and_no_figures(seen: Seen) -> None:
    page = seen[BEFORE, "b001", GRADEBOOK]
    rows, whole = _gradebook(page), _gradebook(seen[BEFORE, "iris", f"{GRADEBOOK}&section=A2"])

    assert rows == whole
    assert "Mean median" not in _text(page)


def test_the_other_class_has_its_own_bank_and_figures(seen: Seen) -> None:
    page = seen[BEFORE, "bo", "/class/gradebook?class=B"]
    rows = _gradebook(page)

    assert rows["hana"] == ["10.00(1)", "10.00/10", "0"]
    assert (len(rows), page.count('data-key="100.00">100.00 %')) == (101, 76)
    assert "Mean median 87.62 % 100.00 %" in _text(page)


@pytest.mark.parametrize("who", NAMED)
def test_each_cell_has_its_own_page_with_the_same_numbers(seen: Seen, who: str) -> None:
    *cells, _, bank = _table(EXPECTED)[who]
    for key, expected in zip(KEYS, cells, strict=True):
        page = seen[BEFORE, "iris", _cell(who, key)]
        sign = re.search(r'<p class="gym-cell-sign">(.*?)<span class="gym-sub">of', page, re.DOTALL)
        assert sign is not None
        assert _points(_text(sign[1])) == expected, key
        assert f"· {bank} of 4 late days left" in _text(page)


def test_an_override_stands_before_what_is_computed(seen: Seen) -> None:
    before, after = (_text(seen[when, "iris", _cell("cleo", "A-2")]) for when in (BEFORE, AFTER))

    assert "“argued the mask convention”. Computed: 20.00." in before
    assert "“argued the mask convention”. Computed: 17.00." in after
    assert "19.5 override of 20.00" in after


@pytest.mark.parametrize("who", NAMED)
def test_students_read_the_numbers_that_their_instructor_reads(seen: Seen, who: str) -> None:
    """On their own page, before and after the regrade, and on the page by which staff see what they see."""
    before = _table(EXPECTED)[who]
    after = _table(REGRADED).get(who, before)

    assert _own(seen[BEFORE, who, OWN])["Class A"] == _as_own(before)
    assert _own(seen[AFTER, who, OWN])["Class A"] == _as_own(after)
    shown = _text(seen[BEFORE, "iris", _student(who)])
    earned, possible = before[-2].split("/")
    assert f"%, {earned} of {possible}.00 points. {before[-1]} of 4 late days left." in shown.replace(" ,", ",")


@pytest.mark.parametrize(
    ("when", "who", "key", "points", "bank"),
    [
        ("09-29T00:16", "eve", "A-1", "6.62", 4),  # the third day ends with the grace, and her last one is refused
        ("10-11T13:00", "fay", "A-2", "11.00", 2), ("10-11T18:30", "fay", "A-2", "10.00", 4),  # set aside
        ("10-12T11:00", "ben", "A-2", "11.00", 2), ("11-11T12:00", "ada", "A-4", "16.00", 4),  # the last one counts
        ("12-06T18:00", "ben", "A-5", "handed in", 0), ("12-07T12:02", "kim", "A-5", "handed in", 4),  # hidden
        ("12-07T12:02", "ada", "A-5", "20.00", 4), ("12-09T09:10", "kim", "A-5", "3.00", 4),
    ],
)  # fmt: skip
def test_a_student_reads_at_once_what_came_of_a_hand_in(
    seen: Seen, when: str, who: str, key: str, points: str, bank: int
) -> None:
    line = _own(seen[when, who, OWN])["Class A"]

    assert (line[KEYS.index(key)], line[-1]) == (points, str(bank))


def test_hidden_points_are_in_no_sum(seen: Seen) -> None:
    """Nor does the bank tell of them: it is what it would be with full marks."""
    assert _own(seen["12-07T12:02", "kim", OWN])["Class A"][-2:] == ["29.03/80", "4"]
    assert _own(seen["12-06T18:00", "ben", OWN])["Class A"][-2:] == ["61.90/80", "0"]
    assert _own(seen[BEFORE, "ben", OWN])["Class A"][-2:] == ["77.90/100", "0"]


def test_the_page_says_what_an_attempt_costs(seen: Seen) -> None:
    assert "+1.00 point for 2 of your 4 late days" in _text(seen["10-11T13:00", "fay", OWN])


def test_each_class_of_a_student_has_its_own_bank(seen: Seen) -> None:
    """The night is an hour longer, and 23:30 on the day after is still one day late."""
    found = _own(seen["10-25T19:00", "hana", OWN])

    assert found["Class B"] == ["10.00", "10.00/10", "0"]
    assert found["Class A"][-1] == "4"


def test_an_extension_reaches_back(seen: Seen) -> None:
    before, after = (_text(seen[when, "iris", _cell("dov", "A-1")]) for when in ("09-27T18:00", "09-28T10:30"))

    assert "8 of 10.00" in before
    assert "10 of 10.00" in after


def test_an_extension_is_shown_before_it_is_granted(seen: Seen) -> None:
    shown = _text(seen["09-28T09:30", "iris", _cell("dov", "A-1")])

    assert "1 gains, 0 lose. Student What Before After So they Dov A-1 8.00 10.00 gains Apply" in shown


def test_a_roster_is_shown_before_it_is_imported(seen: Seen) -> None:
    """Wrong lines by their number; else who moves, and who leaves."""
    wrong, shown = (_text(seen[when, "iris", ROSTER]) for when in ("09-07T10:30", "10-19T08:30"))

    assert "What is wrong 17 this e-mail address comes twice 40 this is no e-mail address Correct" in wrong
    assert "0 new 0 back 1 moved 0 renamed 198 unchanged 1 left" in shown
    assert "10 Jun jun@uni.example A1 moved from A2 \u2013 Ivo ivo@uni.example left" in shown


def test_whoever_has_left_is_in_no_gradebook_and_a_move_costs_nothing(seen: Seen) -> None:
    rows = _gradebook(seen["10-19T09:30", "iris", GRADEBOOK])

    assert (len(rows), "ivo" in rows, rows["jun"][1]) == (199, False, "20.00")


def test_the_files_of_the_gradebook_have_the_same_numbers(seen: Seen) -> None:
    """Pia is excused, Lea was not there yet, and Moe has handed in nothing."""
    made = {
        form: list(csv.reader(io.StringIO(seen[BEFORE, "iris", f"/class/export?class=A&format={form}"])))
        for form in ("csv", "canvas", "moodle")
    }
    canvas = {row[3].partition("@")[0]: row[5:] for row in made["canvas"][2:]}
    sheet = {row[0].partition("@")[0]: row[3:] for row in made["csv"][1:]}
    expected = {who: [cell.partition("(")[0] for cell in row[:5]] for who, row in _table(EXPECTED).items()}

    assert {form: len(rows) for form, rows in made.items()} == {"csv": 201, "canvas": 202, "moodle": 201}
    assert (canvas["pia"][3], canvas["lea"][:2], canvas["moe"]) == ("EX", ["", ""], [""] * 5)
    assert {who: canvas[who] for who in expected if who not in ("lea", "moe")} == {
        who: row for who, row in expected.items() if who not in ("lea", "moe")
    }
    assert sheet["cleo"] == ["9.45", "0", "19.50", "0", "30.00", "2", "20.00", "0", "20.00", "1",
                             "98.95", "100.00", "98.95", "1"]  # fmt: skip
    assert not any(re.search(r"\d,\d{3}", cell) for rows in made.values() for row in rows for cell in row)
    assert any(f"'{events.FORMULA}" in row for row in made["csv"])


def test_the_audit_has_a_line_for_each_decision(seen: Seen) -> None:
    page = seen[DELETED, "iris", AUDIT]
    done = Counter(re.findall(r"<tr><td>.*?</td><td>.*?</td><td>(\w+) ", page))
    refused = Counter(re.findall(r"<tr><td>.*?</td><td>.*?</td><td>(\w+) [^<]*<strong>refused", page))

    expected = {"import": 6, "except": 4, "override": 2, "aside": 1, "regrade": 3, "cancel_change": 2, "apply": 1}
    assert {what: done[what] for what in expected} == expected
    assert (done["publish"] + done["release"], done["look"]) == (2, len(NAMED))
    assert refused == {"import": 1, "override": 1}
