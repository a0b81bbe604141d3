"""The gradebook and its export."""

import csv
import re
import time
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from grader.exercise.catalog import Catalog
from grader.pages.catalogue import tracks
from grader.pages.gradebook import Asked, Row, addresses_in, csv_of, gradebook_view, mean
from grader.pages.plain import piece
from grader.store.records import Role, User, UserId
from grader.store.standings import CommonMistake, Grade, Student

TO = addresses_in("")
SHOW = "(view) => document.querySelector('main').append(gym.piece(view))"


def test_exported_names_are_never_formulas():
    """A name that a spreadsheet would run gets an apostrophe."""
    names = ["=HYPERLINK(1)", "@x", " =1", "\t=1", "\uff1d1", "\uff0b1", "a;=1", 'a"b', "Ada"]
    rows = [
        Row(UserId(7), names[0], (50.0,), 2),
        Row(UserId(9), names[1], (None,), 1),
        *(Row(UserId(10), name, (1.0,), 1) for name in names[2:]),
    ]

    lines = csv_of(["softmax"], rows).removeprefix("\ufeff").splitlines()

    assert lines[0] == '"student_id","student","softmax","mean","attempts"'
    assert lines[1:3] == ['7,"\'=HYPERLINK(1)",50.0,50.0,2', '9,"\'@x","",0.0,1']
    assert [row[1] for row in csv.reader(lines[3:])] == ["' =1", "' =1", "'\uff1d1", "'\uff0b1", "a;'=1", 'a"b', "Ada"]


def test_the_mean_counts_what_was_not_tried_as_zero():
    """One exercise solved of four is a quarter."""
    assert mean(Row(UserId(1), "Ada", (100.0, None, None, None), 1)) == 25.0


def test_code_in_the_title_of_a_mistake_is_drawn_as_code():
    """The page is told that the column has backticks to be read."""
    catalog = Catalog.load()
    wrong = next(one for one in catalog["softmax"].mistakes if "`" in one.title)
    common = CommonMistake(exercise="softmax", mistake=wrong.name, title=wrong.title, students=2, times=3)
    table = gradebook_view(catalog, [], [common], TO)["mistakes"]
    (kind,) = [column["kind"] for column in table["columns"] if column["name"] == "Mistake"]
    assert (kind, table["rows"][0]["cells"][1]) == ("rich", wrong.title)


def student(name: str, id: int, grades: dict[str, Grade], active: float | None = 5.0) -> Student:
    """Return a student of the class."""
    return Student(User(UserId(id), name, Role.STUDENT), grades, active)


def test_sums_stand_before_the_scores_and_scores_under_their_track():
    """Done, points, attempts and last activity come first; each track has a head over its exercises."""
    catalog = Catalog.load()
    ada = student("Ada", 7, {"softmax": Grade(100.0, 2), "causal_mask": Grade(40.25, 3)})
    view = gradebook_view(catalog, [ada, student("Bob", 8, {}, None)], [], TO)
    names = [column["name"] for column in view["columns"]]
    by_name = {row["cells"][0]["text"]: row["cells"] for row in view["rows"]}

    assert names[:5] == ["Student", f"Done of {len(catalog)}", "Points", "Attempts", "Last active"]
    assert names[5:] == [exercise.title for exercise in catalog.values()]
    assert [group["name"] for group in view["groups"]] == ["", *(name for name, _ in tracks(catalog))]
    assert sum(group["span"] for group in view["groups"]) == len(names)
    assert by_name["Ada"][1:5] == [1, 140.25, 5, 5.0]
    assert by_name["Bob"][1:] == [0, 0, 0, None, *[None] * len(catalog)]
    assert by_name["Ada"][names.index("Softmax")] == [100.0, 2, "/teach/?student=7&ex=softmax&best=yes"]


def test_one_track_has_its_own_sums():
    """Only its exercises are columns, and only they are counted; a track that is none shows all."""
    catalog = Catalog.load()
    (first, inside), (_, outside), *_ = tracks(catalog)
    ada = student("Ada", 7, {inside[0].id: Grade(100.0, 1), outside[0].id: Grade(100.0, 1)})
    one, wrong = (gradebook_view(catalog, [ada], [], TO, track=track) for track in (first, "no such track"))

    assert [column["name"] for column in one["columns"]][5:] == [exercise.title for exercise in inside]
    assert one["rows"][0]["cells"][1:4] == [1, 100.0, 1]
    assert len(wrong["columns"]) == 5 + len(catalog)
    assert [choice["text"] for choice in one["tracks"] if choice["here"]] == [first]


def test_a_mistake_leads_to_the_attempts_that_made_it():
    """The number of attempts is a link to the list of them."""
    common = CommonMistake(exercise="softmax", mistake="a b", title="Wrong", students=2, times=3)
    (row,) = gradebook_view(Catalog.load(), [], [common], TO)["mistakes"]["rows"]

    assert row["cells"] == ["Softmax", "Wrong", 2, [3, "/teach/?list=all&ex=softmax&mistake=a+b"]]


def test_a_name_is_found_without_its_accents(open_page):
    """Capitals and accents make no difference, and an empty list says why."""
    page = open_page("/")
    names = ["Zo\u00eb", "Zo\u00e9", "Bob", *(f"Student {number}" for number in range(9))]
    table = {"label": "Class", "columns": [{"name": "Name"}], "rows": [{"cells": [name]} for name in names]}
    page.evaluate(SHOW, piece("board", table))
    search, cells = page.get_by_label("Find in this table"), page.locator(".gym-table td")
    search.fill("ZOE ")
    expect(cells).to_have_text(["Zo\u00eb", "Zo\u00e9"])
    search.fill("zo\u00eb")
    expect(cells).to_have_count(2)
    search.fill("zoo")
    expect(page.get_by_text("Nobody found.")).to_be_visible()
    search.fill("")

    expect(cells).to_have_count(12)
    expect(page.get_by_text("Nobody found.")).to_have_count(0)


def test_only_names_are_found_and_each_line_is_drawn_once(open_page):
    """A missing score is no text *null*, and a number no name; what was drawn is shown again, not made anew."""
    page = open_page("/")
    columns = [
        {"name": "Name", "kind": "link"},
        {"name": "Attempts", "kind": "number"},
        {"name": "Softmax", "kind": "grade"},
    ]
    names = ["Nuria", "Ulla 12", *(f"Student {letter}" for letter in "abcdefghij")]
    rows = [{"cells": [{"text": name, "href": "/"}, 12, None]} for name in names]
    page.evaluate(SHOW, piece("board", {"label": "Class", "columns": columns, "rows": rows}))
    search, found = page.get_by_label("Find in this table"), page.locator(".gym-table tbody th")
    page.evaluate("drawn = document.querySelector('.gym-table tbody tr')")
    for wanted, name in (("nu", "Nuria"), ("ull", "Ulla 12"), ("12", "Ulla 12")):
        search.fill(wanted)
        expect(found).to_have_text([name])
    search.fill("nuria")

    assert page.evaluate("drawn === document.querySelector('.gym-table tbody tr')")


@pytest.mark.parametrize(("days", "words"), [(400, r"^\d+ \w+ \d{4}$"), (0.5, r"^12 h ago$")])
def test_a_date_says_its_year_and_moment(open_page, days, words):
    """A list of last year's attempts is not taken for this year's, and a moment can be compared with a deadline."""
    page = open_page("/")
    row = {
        "id": "a",
        "tone": "good",
        "score": "100",
        "title": "Softmax",
        "text": "",
        "created": time.time() - days * 86400,
    }
    page.evaluate(SHOW, piece("attempts", {"rows": [row]}))
    shown = page.locator(".gym-attempts time")
    expect(shown).to_have_text(re.compile(words))

    assert re.search(r"\d{4}, \d\d:\d\d$", shown.get_attribute("title"))


def test_addresses_of_lists_say_what_they_are_narrowed_to():
    """Each list has one address, which is read as it was written; what is no student is nobody."""
    lists = [
        Asked(),
        Asked(student=UserId(3)),
        Asked(exercise="softmax", mistake="late"),
        Asked(student=UserId(3), exercise="softmax", mistake="late", flag="any"),
    ]

    assert [Asked.of(dict(parse_qsl(urlsplit(one.address(TO)).query))) for one in lists] == lists
    assert Asked.of({}) is None
    for nobody in ("x", "", "-1", "1" * 10, "\u0663"):
        assert Asked.of({"student": nobody}) == Asked(student=UserId(0)), nobody
