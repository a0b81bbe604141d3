"""The pages of a class for its staff: who gets them, what each form does, and what strangers' text does there."""

from __future__ import annotations

import base64
import html
import io
import itertools
import re
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from grader.errors import NotAllowed
from grader.judge.report import Dimension
from grader.pages.routes import SCHOOL
from grader.store.classes import find_person, set_presence
from grader.store.people import enter_class
from grader.store.records import Role
from grader.store.tables import INITIAL_CLASS, DiagnosisRow, SubmissionRow
from tests.pages.conftest import Person, Site
from tests.pages.test_accessibility import axe, found_at_both_sizes  # noqa: F401

KEYS = itertools.count(1)
NONCE = re.compile(r'nonce="[^"]*"')
ADA, EVE = "ada@school.edu", "eve@school.edu"
ROSTER = f'email,name,section\n{ADA},Ada Lovelace,A\n{EVE},"=HYPERLINK(""http://x"",""y"")",B\n'
HOSTILE = "<script>document.title='taken'</script>"
WITH_CLASS = [
    path for path, route in SCHOOL.items() if path not in ("/classes", "/class/results") and "GET" in route.methods
]
WITH_FORMS = [path for path in WITH_CLASS if "POST" in SCHOOL[path].methods]


@dataclass(frozen=True)
class Taught:
    """A class with an instructor, an assistant of section A, and two students."""

    key: str
    do: Callable[..., Any]
    people: dict[str, Person | None]
    attempt: str

    def address(self, path: str, **fields: str) -> str:
        """Return the address of a page of it."""
        return str(
            httpx.URL(
                path, params={"class": self.key, "assignment": "hw1", "person": ADA, "attempt": self.attempt, **fields}
            )
        )


@pytest.fixture
def taught(site: Site, person: Callable[..., Person]) -> Taught:
    key = f"class{next(KEYS)}"

    def do(what: str, **fields: Any) -> Any:
        return site.service.classes.do("admin", what, {"class": key, **fields})

    roles = ("instructor", "assistant", "student", "outsider")
    people: dict[str, Person | None] = {name: person(f"{name} of {key}") for name in roles}
    do("class", name="Machine learning", zone="Europe/Berlin", bank=4, sections=["A", "B"])
    for role, sections in (("instructor", []), ("assistant", ["A"])):
        do("staff", person=f"{role} of {key}", name=role, role=role, sections=sections)
    do("import", csv=ROSTER)
    day = {name: time.strftime("%Y-%m-%dT12:00", time.gmtime(time.time() + 86400 * n)) for name, n in DAYS.items()}
    do("assign", assignment="hw1", title="Homework 1", items={"softmax": "10"}, **day, late={"cutoff": 3})
    attempt = f"school-{next(KEYS)}"
    handed_in = {"person": ADA, "assignment": "hw1", "exercise": "softmax", "id": attempt, "score": 80}
    do("hand_in", **handed_in)
    return Taught(key, do, {**people, "guest": None}, attempt)


DAYS = {"opens": -9, "due": 5}


def text_of(answer: httpx.Response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))


@pytest.mark.parametrize(
    ("role", "seen", "only_instructors"),
    [("guest", 303, 303), ("outsider", 404, 404), ("assistant", 200, 404), ("instructor", 200, 200)],
)
def test_only_staff_get_the_pages(taught, visitor, role, seen, only_instructors):
    """A guest is led to sign in, a stranger gets what an unknown class gets, an assistant less than instructors."""
    names = ("roster", "exceptions", "assignment", "copy", "publication", "regrade", "audit", "export")
    closed = {f"/class/{name}" for name in names}
    with visitor(taught.people[role]) as client:
        for path in WITH_CLASS:
            answer = client.get(taught.address(path))
            assert answer.status_code == (only_instructors if path in closed else seen), path
            if role == "guest":
                assert answer.headers["location"].startswith("/sign-in?next=%2Fclass")


@pytest.mark.parametrize("role", ["guest", "outsider", "student"])
def test_nobody_else_can_change_anything(taught, visitor, role):
    """Every form is refused, and a stranger cannot tell the class from one that is not there."""
    with visitor(taught.people[role]) as client:
        for path in WITH_FORMS:
            form = {"do": "override", "points": "1", "reason": "x", "sure": "yes"}
            known = client.post(taught.address(path), data=form)
            unknown = client.post(taught.address(path, **{"class": "nothing"}), data=form)
            assert known.status_code == (401 if role == "guest" else 404)
            assert NONCE.sub("", known.text) == NONCE.sub("", unknown.text)


def test_an_assistant_sees_their_section_only(taught, visitor):
    """Of section B there is nothing, and there is no form that is for instructors."""
    with visitor(taught.people["assistant"]) as client:
        book = client.get(taught.address("/class/gradebook")).text
        assert "Ada Lovelace" in book
        assert EVE not in book
        assert client.get(taught.address("/class/cell", person=EVE)).status_code == 404
        page = client.get(taught.address("/class/cell")).text
        assert "Write the comment" in page
        assert "Override the points" not in page
        sent = client.post(taught.address("/class/cell"), data={"do": "override", "points": "1", "reason": "x"})
        assert sent.status_code == 404


def test_staff_read_an_attempt_with_its_report_and_nobody_elses(taught, visitor):
    """By the cell that it is in; the instructors' pages of another class do not have it."""
    with visitor(taught.people["assistant"]) as client:
        page = client.get(taught.address("/class/attempt"))
        missing = client.get(taught.address("/class/attempt", attempt="none"))
        elsewhere = client.get(f"/teach/?submission={taught.attempt}")

    assert "Ada Lovelace: Softmax" in text_of(page)
    assert (missing.status_code, elsewhere.status_code) == (404, 303)


def test_the_gradebook_is_sent_as_a_file(taught, visitor):
    """For a spreadsheet with the mark by which it knows UTF-8; no cell of it is a formula."""
    with visitor(taught.people["instructor"]) as client:
        files = {form: client.get(taught.address("/class/export", format=form)) for form in ("csv", "canvas", "json")}
        wrong = client.get(taught.address("/class/export", format="pdf"))

    assert files["csv"].content.startswith("\ufeffemail,name,section,Homework 1,".encode())
    assert files["canvas"].text.startswith("Student,ID,SIS User ID,SIS Login ID,Section,Homework 1")
    assert len(files["json"].json()["people"]) == 2
    assert not any(cell.startswith(("=", '"=')) for row in files["csv"].text.splitlines() for cell in row.split(","))
    assert wrong.status_code == 422


def test_links_for_new_people_are_sent_to_instructors_only_and_sign_them_in(taught, visitor):
    new = f"new.{taught.key}@school.edu"
    taught.do("import", csv=f"{ROSTER}{new},Newcomer,A\n")
    with visitor(taught.people["assistant"]) as client:
        refused = client.post(f"/class/links?class={taught.key}")
    with visitor(taught.people["instructor"]) as client:
        sent = client.post(f"/class/links?class={taught.key}").text.splitlines()
        link = next(line for line in sent if line.startswith(new)).rpartition(",")[2]
        again = client.post(f"/class/links?class={taught.key}").text
    with visitor() as newcomer:
        page = newcomer.get(httpx.URL(link).raw_path.decode())

    assert refused.status_code == 404
    assert (page.status_code, "Newcomer" in page.text) == (200, True)
    assert new in again, "a link that was not used is given again"


def test_an_override_is_shown_and_then_done(taught, visitor):
    """The first click shows from what to what, the second one saves, and a stale one is told who did."""
    form = {"do": "override", "points": "7.5", "reason": "oral exam", "revision": "0"}
    with visitor(taught.people["instructor"]) as client:
        address = taught.address("/class/cell")
        preview = client.post(address, data=form)
        assert "nothing is saved yet" in preview.text
        assert "7.5" in text_of(preview)
        assert taught.do("grades")["people"][0]["cells"]["hw1"]["override"] is None
        assert client.post(address, data={**form, "sure": "yes"}).status_code == 200
        assert taught.do("grades")["people"][0]["cells"]["hw1"]["override"] == "7.50"
        stale = client.post(address, data={**form, "points": "3", "sure": "yes"})
        assert stale.status_code == 409
        assert "saved 7.50 (“oral exam”)" in stale.text
        nothing = client.post(address, data={**form, "revision": "1", "reason": ""})
        assert (nothing.status_code, "A reason is expected" in nothing.text) == (422, True)


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("due", "2031-01-05T10:00", "2031-01-05 10:00"), ("attempts", "2", "Extra attempts: 2"),
        ("excused", "yes", "Excused"), ("standing_days", "3", "Standing days: 3"), ("bank_days", "2", "2"),
    ],
)  # fmt: skip
def test_an_exception_is_granted(taught, visitor, field, value, shown):
    """Each kind is shown with its reason afterwards."""
    form = {"do": "except", "field": field, "value": value, "reason": f"ill {HOSTILE}", "sure": "yes"}
    with visitor(taught.people["instructor"]) as client:
        done = client.post(taught.address("/class/cell"), data=form)

    assert done.status_code == 200
    assert shown in text_of(done)
    assert HOSTILE not in done.text


def test_a_minute_that_the_clock_skips_is_offered_as_the_one_that_it_becomes(taught, visitor):
    """In the cell and in the editor of an assignment."""
    form = {"do": "except", "field": "due", "value": "2027-03-28T02:30", "reason": "ill"}
    with visitor(taught.people["instructor"]) as client:
        refused = client.post(taught.address("/class/cell"), data=form)
        assert refused.status_code == 422
        assert 'value="2027-03-28T03:30"' in refused.text
        assert "Use 2027-03-28 03:30 instead" in refused.text
        editor = client.post(taught.address("/class/assignment"), data=edited(due="2027-03-28T02:30"))
        assert 'value="2027-03-28T03:30"' in editor.text


def edited(**changes: str) -> dict[str, str]:
    return {
        "title": "Homework", "items": "softmax 12.5", "opens": "2026-01-01T00:00", "due": "2027-10-31T02:30",
        "section_due": "B: 2027-11-02T10:00", "per_day": "10", "at_most": "50", "of": "earned", "cutoff": "3",
        "bank_max": "2", "grace": "5", "count": "best", "attempts": "4", "show": "after_due", "revision": "1",
        **changes,
    }  # fmt: skip


def test_an_assignment_is_changed(taught, visitor):
    """Shown first, with the timeline after it; saved with the revision; a stale tab is refused."""
    address = taught.address("/class/assignment")
    with visitor(taught.people["instructor"]) as client:
        preview = client.post(address, data=edited())
        assert "Timeline after the change" in preview.text
        assert "this minute comes twice that night, the second is meant" in preview.text
        assert "−20 % of what is earned, or 2 from the bank" in preview.text
        saved = client.post(address, data={**edited(), "sure": "yes"})
        assert "Saved." in saved.text
        assert taught.do("desk")["assignments"][0]["late"]["per_day"] == "0.1"
        stale = client.post(address, data={**edited(title="Other"), "sure": "yes"})
        assert (stale.status_code, "changed this assignment (title, items" in stale.text) == (409, True)


def test_an_override_that_lowered_weights_leave_above_what_is_possible_is_named(taught, visitor):
    """Before the change, and in the gradebook after it."""
    taught.do("override", person=ADA, assignment="hw1", points="9", reason="oral exam")
    lowered = {**edited(items="softmax 5"), "opens": "2026-01-01T00:00"}
    with visitor(taught.people["instructor"]) as client:
        preview = client.post(taught.address("/class/assignment"), data=lowered)
        assert "Above the possible points would then be: Ada Lovelace, hw1, 9.00." in text_of(preview)
        client.post(taught.address("/class/assignment"), data={**lowered, "sure": "yes"})
        assert "9 override above 5" in text_of(client.get(taught.address("/class/gradebook")))
        again = client.post(taught.address("/class/assignment"), data=edited(items="softmax 4", revision="2"))
        assert "Above the possible" not in again.text


def test_a_part_of_a_report_is_hidden_for_longer(taught, visitor):
    """Shown in the timeline of the preview; the form has it afterwards, and an edit without it takes it back."""
    address = taught.address("/class/assignment")
    form = edited(**{**dict.fromkeys((f"show_{one}" for one in Dimension), ""), "show_masking": "after_cutoff"})
    with visitor(taught.people["instructor"]) as client:
        preview = client.post(address, data=form)
        assert "Masking in reports, and with it every score after the last moment" in text_of(preview)
        saved = client.post(address, data={**form, "sure": "yes"})
        assert taught.do("desk")["assignments"][0]["show_checks"] == {"masking": "after_cutoff"}
        field = saved.text.partition('name="show_masking"')[2].partition("</select>")[0]
        assert '<option value="after_cutoff" selected>' in field
        client.post(address, data={**edited(revision="2"), "sure": "yes"})
        assert taught.do("desk")["assignments"][0]["show_checks"] == {}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"show_masking": "later"}, "masking"),
        ({"items": "softmax"}, "is no exercise with its points"), ({"items": "softmax 5.005"}, "two decimals"),
        ({"per_day": "150"}, "from 0 to 1"), ({"opens": "2028-01-01T00:00"}, "after it is due"),
        ({"cutoff": "some"}, "is no whole number"), ({"section_due": "Z: 2027-11-02T10:00"}, "no section"),
        ({"due": "2027-02-30T10:00"}, "a minute that exists"), ({"section_due": "B"}, "is no section with its due"),
        ({"per_day": "x"}, "no number of per cent"),
    ],
)  # fmt: skip
def test_an_assignment_that_cannot_be_is_refused(taught, visitor, changes, why):
    """In one clear line, with what was typed still in the form."""
    with visitor(taught.people["instructor"]) as client:
        answer = client.post(taught.address("/class/assignment"), data=edited(**changes))

    assert answer.status_code == 422
    assert why in text_of(answer)
    assert "softmax" in answer.text


def test_an_assignment_is_made(taught, visitor):
    """With a key that is free; another one of that key is refused."""
    form = {**edited(), "key": "hw2"}
    del form["revision"]
    with visitor(taught.people["instructor"]) as client:
        made = client.post(f"/class/assignment?class={taught.key}", data=form)
        again = client.post(f"/class/assignment?class={taught.key}", data=form)

    assert "The assignment is made." in made.text
    assert (again.status_code, "There is an assignment" in again.text) == (422, True)


def test_a_class_is_copied_for_another_term_by_who_teaches_it(taught, visitor):
    """The dates are shown first; nothing is made before the second click, and no class of a key that there is."""
    address, form = taught.address("/class/copy"), {"key": f"{taught.key}-next", "name": "Next term", "weeks": "26"}
    due = datetime.fromisoformat(taught.do("desk")["assignments"][0]["due"]) + timedelta(weeks=26)
    with visitor(taught.people["instructor"]) as client:
        preview = client.post(address, data=form)
        assert f"{due:%a %-d %b %Y, %H:%M}" in text_of(preview)
        assert client.get("/class", params={"class": form["key"]}).status_code == 404
        wrong = [
            client.post(address, data={**form, **one}) for one in ({"key": taught.key}, {"weeks": "x"}, {"weeks": ""})
        ]
        assert [one.status_code for one in wrong] == [422, 422, 422]
        assert "you teach it" in client.post(address, data={**form, "sure": "yes"}).text
        home = client.get("/class", params={"class": form["key"]})
        assert client.post(address, data={**form, "sure": "yes"}).status_code == 422
    assert f"Due {due:%Y-%m-%d %H:%M}" in text_of(home)
    assert "0 students" in text_of(home)


def test_a_roster_is_shown_by_line_and_then_applied(taught, visitor):
    """From a file in cp1252; somebody who would leave is counted, and their number is to be typed."""
    file = base64.b64encode("email;name;section\nzoe@school.edu;Zoë;A\n".encode("cp1252")).decode()
    with visitor(taught.people["instructor"]) as client:
        preview = client.post(taught.address("/class/roster"), data={"file": file})
        assert "Zoë" in preview.text
        assert "2 left" in text_of(preview)
        assert "Type their number to confirm" in preview.text
        wrong = client.post(taught.address("/class/roster"), data={"file": file, "sure": "yes", "confirm": "1"})
        assert wrong.status_code == 422
        done = client.post(taught.address("/class/roster"), data={"file": file, "sure": "yes", "confirm": "2"})
        assert "1 new, 2 left" in done.text
        people = taught.do("grades")["people"]
    assert [one["name"] for one in people] == ["Zoë"]


def test_something_is_granted_to_several_people(taught, visitor):
    """Shown with what it changes, from the same file once more; nothing is granted if one of them is unknown."""
    address = taught.address("/class/exceptions")
    form = {"people": f"{ADA}\n{EVE}\n", "field": "excused", "assignment": "hw1", "value": "yes", "reason": HOSTILE}
    with visitor(taught.people["instructor"]) as client:
        wrong = client.post(address, data={**form, "people": f"{ADA}, who@else.org"})
        assert (wrong.status_code, "who@else.org There is no such member" in text_of(wrong)) == (422, True)
        preview = client.post(address, data=form)
        assert "0 gain, 0 lose, 2 change" in text_of(preview)
        assert HOSTILE not in preview.text
        file = html.unescape(re.search(r'name="csv" value="([^"]*)"', preview.text)[1])
        done = client.post(address, data={"csv": file, "file": "", "sure": "yes"})
    assert "2 exceptions are granted." in done.text
    assert [one["cells"]["hw1"]["state"] for one in taught.do("grades")["people"]] == ["excused", "excused"]


def test_errors_of_a_roster_are_told_by_line(taught, visitor):
    """Each with its line, and nothing is done."""
    csv = "email,name,section\nno address,X,A\na@b.cd,,A\nq@b.cd,Q,Z\n"
    with visitor(taught.people["instructor"]) as client:
        answer = client.post(taught.address("/class/roster"), data={"csv": csv})
        broken = client.post(taught.address("/class/roster"), data={"file": "AAAA"})
        bad = client.post(taught.address("/class/roster"), data={"file": "!"})

    said = text_of(answer)
    assert answer.status_code == 422
    for line, why in ((2, "no e-mail address"), (3, "the name is missing"), (4, "no such section")):
        assert re.search(rf"{line} [^0-9]*{why}", said)
    assert (broken.status_code, bad.status_code) == (422, 422)


def test_a_large_roster_goes_through(taught, visitor):
    """The size that other forms have at most is raised for this path alone."""
    rows = "".join(f"n{number}@school.edu,Name {number} {'x' * 30},A\n" for number in range(4000))
    with visitor(taught.people["instructor"]) as client:
        large = client.post(taught.address("/class/roster"), data={"csv": f"email,name,section\n{rows}"})
        assert (large.status_code, "4000 new" in text_of(large)) == (200, True)
        assert client.post(taught.address("/class/cell"), data={"text": "x" * 40_000}).status_code == 413


def test_results_are_published_but_to_some(taught, visitor):
    """Somebody held back is named, and released by one click; without the tick nothing is published."""
    address = taught.address("/class/publication")
    with visitor(taught.people["instructor"]) as client:
        assert client.post(address, data={"hold": ""}).status_code == 422
        held = client.post(address, data={"hold": f"{EVE}\n", "sure": "yes"})
        assert "held back from 1" in held.text
        assert client.post(address, data={"hold": "who@else.org", "sure": "yes"}).status_code == 422
        assert "Released to" in client.post(address, data={"person": EVE}).text
        assert taught.do("desk")["assignments"][0]["held"] == []


def test_a_comment_stays_with_its_cell(taught, visitor):
    """By an assistant too; an empty one is refused."""
    with visitor(taught.people["assistant"]) as client:
        written = client.post(taught.address("/class/cell"), data={"do": "comment", "text": HOSTILE, "shown": "yes"})
        assert "shown to the student" in written.text
        assert HOSTILE not in written.text
        assert client.post(taught.address("/class/cell"), data={"do": "comment", "text": " "}).status_code == 422


def test_to_see_as_the_student_does_is_noted(taught, visitor):
    """The audit names who has looked."""
    with visitor(taught.people["assistant"]) as client:
        assert "As Ada Lovelace sees it" in client.get(taught.address("/class/student")).text
    with visitor(taught.people["instructor"]) as client:
        assert f"look {ADA}" in text_of(client.get(taught.address("/class/audit")))


def test_hostile_names_are_text(taught, open_page):
    """A formula, markup and marks of direction stand there as they are, and nothing runs."""
    taught.do("staff", person="x@school.edu", name=HOSTILE, role="assistant", sections=["B"])
    taught.do("import", csv=ROSTER + f'm@school.edu,"{HOSTILE}",A\nr@school.edu,\u202eevil,A\n')
    page = open_page(taught.address("/class/gradebook"), taught.people["instructor"])
    expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
    expect(page.get_by_role("link", name='=HYPERLINK("http://x","y")')).to_be_visible()

    assert "taken" not in page.title()
    assert "\u202e" not in page.content()


def test_a_chosen_file_arrives_as_its_bytes(taught, open_page):
    """The script sends it in base64, by the keyboard alone."""
    page = open_page(taught.address("/class/roster"), taught.people["instructor"])
    content = "email;name;section\nzoe@school.edu;Zoë;A\n".encode("cp1252")
    page.get_by_label("Choose a file").set_input_files({"name": "r.csv", "mimeType": "text/csv", "buffer": content})
    expect(page.locator("input[name=file]")).not_to_have_value("")
    page.get_by_role("button", name="Preview").press("Enter")

    expect(page.get_by_role("rowheader", name="Zoë")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_of_a_class_shut_nobody_out(taught, open_page, axe, *, scheme):  # noqa: F811
    """No finding on any of them at both sizes, nor on a preview."""
    taught.do("override", person=ADA, assignment="hw1", points="9", reason="oral exam")
    page = open_page("/classes", taught.people["instructor"], color_scheme=scheme)
    found_at_both_sizes(page, axe)
    for path in (one for one in WITH_CLASS if one != "/class/export"):
        page.goto(taught.address(path))
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        found_at_both_sizes(page, axe)
    page.goto(taught.address("/class/cell"))
    page.get_by_label("Points, 0 to").fill("5")
    page.locator("#r-override").fill("second look")
    page.locator("#r-override").press("Enter")
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()
    found_at_both_sizes(page, axe)


CONTROLS = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter((one) => one.checkVisibility() && one.type !== "hidden" && !one.disabled)
    .filter((one) => one.type !== "radio" || one.checked)  // of a group the keys of the arrows reach the others
    .map((one, place) => (one.dataset.place = place, one.outerHTML.slice(0, 80)))"""
FOCUSED = """() => {
    const one = document.activeElement;
    if (["date", "datetime-local"].includes(one.type)) return [one.dataset.place, true];  // a part of it is marked
    const styles = [getComputedStyle(one), getComputedStyle(one, "::after")];
    return [one.dataset.place, styles.some((style) => style.outlineStyle !== "none" || style.boxShadow !== "none")];
}"""


def test_the_keyboard_alone_reaches_every_control(taught, open_page):
    """On each page of a class by Tab, in the order of the page, and one sees where one is."""
    page = open_page("/classes", taught.people["instructor"])
    for path in ("/classes", *(taught.address(one) for one in WITH_CLASS if one != "/class/export")):
        page.goto(path)
        controls = page.evaluate(CONTROLS)
        reached: list[int] = []
        while len(reached) < len(controls):
            page.keyboard.press("Tab")
            place, is_seen = page.evaluate(FOCUSED)
            assert place is not None, f"{path}: after {controls[reached[-1]]} the keyboard leaves the page"
            assert is_seen, f"{path}: no mark around {controls[int(place)]}"
            if not reached or int(place) != reached[-1]:  # a date has several parts
                assert int(place) == len(reached), f"{path}: {controls[int(place)]} before {controls[len(reached)]}"
                reached.append(int(place))


def test_no_two_states_of_a_cell_look_alike(taught, visitor):
    """A zero, and each thing that stands where there are no points: by their text, without any colour."""
    when = {name: time.strftime("%Y-%m-%dT12:00", time.gmtime(time.time() + 86400 * n)) for name, n in OVER.items()}
    taught.do("assign", assignment="over", items={"softmax": "10"}, **when)
    taught.do("import", csv=ROSTER + "bob@school.edu,Bob,A\n")
    taught.do("override", person=ADA, assignment="hw1", points="0", reason="copied")
    taught.do("except", person=EVE, assignment="hw1", field="excused", value=True, reason="ill")
    with visitor(taught.people["instructor"]) as client:
        page = client.get(taught.address("/class/gradebook")).text
    cells = re.findall(r'<td class="gym-number"[^>]*><a [^>]*>(.*?)</a></td>', page)
    texts = {re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", cell)).strip() for cell in cells}

    assert texts == {"0 override", "EX excused", "\u2013", "n/a not assigned"}


OVER = {"opens": -9, "due": -2}


def test_a_sheet_that_says_it_is_huge_is_refused_by_another_process(taught, visitor):
    """1.5 kB with a cell in the last corner would take 512 GiB here, and end whatever reads it."""
    name = "http://schemas.openxmlformats.org"
    sheet = f'<worksheet xmlns="{name}/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
    sheet += '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
    book = f'<workbook xmlns="{name}/spreadsheetml/2006/main" xmlns:r="{name}/officeDocument/2006/relationships">'
    book += '<sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>'
    links = f'<Relationships xmlns="{name}/package/2006/relationships"><Relationship Id="rId1" '
    links += (
        f'Type="{name}/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        parts = {"workbook.xml": book, "_rels/workbook.xml.rels": links, "worksheets/sheet1.xml": sheet}
        for part, text in parts.items():
            archive.writestr(f"xl/{part}", text)
    with visitor(taught.people["instructor"]) as client:
        sent = {"csv": "", "file": base64.b64encode(file.getvalue()).decode()}
        answer = client.post(taught.address("/class/roster"), data=sent)

    assert (answer.status_code, "its first sheet cannot be read, or is too large" in text_of(answer)) == (422, True)


def test_an_instructor_of_the_first_class_has_no_hand_on_accounts_and_work_of_another(taught, site, person):
    """Neither a link for a password, nor another name, nor the work, whatever they bring into their own class."""
    boss = person("the boss of the first class", role=Role.INSTRUCTOR)
    service, classes = site.service, site.service.classes
    with service.condition.database.write() as session:
        ada = find_person(session, ADA)
        assert ada is not None
        enter_class(session, INITIAL_CLASS, ada, Role.STUDENT, now=1.0)
    try:
        refused = {
            "link": lambda: service.own_account.link_for_student(boss.user, INITIAL_CLASS, ada),
            "name": lambda: service.classroom(boss.user).rename(ada, "Mallory"),
            "read": lambda: service.submission(boss.user, taught.attempt),
            "cancel": lambda: service.cancel(boss.user, taught.attempt),
            "appoint": lambda: classes.do(
                boss.user,
                "staff",
                {"class": "the-class", "person": "outsider of none", "name": "x", "role": "assistant"},
            ),
        }
        for what, do in refused.items():
            with pytest.raises(NotAllowed):
                pytest.fail(f"{what}: {do()}")
        assert taught.attempt not in {one.id for one in service.classroom(boss.user).attempts(ada)}
    finally:
        with service.condition.database.write() as session:
            set_presence(session, INITIAL_CLASS, ada, ended=2.0)


def test_an_instructor_regrades_and_the_student_reads_why(taught, visitor, site):
    """From the form to the preview, to the lists behind its numbers, to the notice; a second click finds it done."""
    student = taught.people["student"]
    name = site.service.classes.person_of(student.user)
    site.service.accounts.join(
        student.user, site.service.classroom(taught.people["instructor"].user, taught.key).replace_code()
    )
    for id, scores in ((f"{taught.key}-1", {"1": 40, "2": 90}), (f"{taught.key}-2", {"1": 30, "2": 30})):
        taught.do("hand_in", person=name, assignment="hw1", exercise="softmax", id=id, scores=scores)
    site.service.classes.do("admin", "version", {"exercise": "softmax", "version": "2"})
    address = f"/class/regrade?class={taught.key}"
    with visitor(taught.people["instructor"]) as client:
        nothing = client.post(address, data={"exercise": "softmax", "keep": "new", "which": "all", "reason": ""})
        made = client.post(address, data={"exercise": "softmax", "keep": "new", "which": "all", "reason": HOSTILE})
        one = made.headers["location"]
        page = client.get(one)
        behind = client.get(re.search(r'href="([^"]*before=40[^"]*)"', page.text)[1].replace("&amp;", "&"))
        seen = re.search(r'name="seen" value="(\w+)"', page.text)[1]
        unsure = client.post(one, data={"act": "cancel"})
        results = html.unescape(re.search(r'href="(/class/results[^"]*)"', behind.text)[1])
        looked, missing = client.get(results), client.get(results.replace("attempt=", "attempt=x"))
        with visitor(taught.people["outsider"]) as stranger:
            refused = [stranger.get(results), stranger.get(results.replace("/class/", "/assignments/"))]
        with visitor(student) as own:  # not before it counts
            refused.append(own.get(results.replace("/class/", "/assignments/")))
        with visitor(student) as own:
            before = own.get("/assignments").text
            done = client.post(one, data={"act": "apply", "seen": seen})
            again = client.post(one, data={"act": "apply", "seen": seen})
            after = own.get("/assignments")
            both = own.get(html.unescape(re.search(r'href="(/assignments/results[^"]*)"', after.text)[1]))
            read = re.search(r'name="read" value="(\d+)"', after.text)[1]
            own.post("/assignments", data={"read": read, "school": taught.key})
            left = own.get("/assignments").text

    assert (looked.status_code, both.status_code, missing.status_code) == (200, 200, 404)
    assert [one.status_code for one in refused] == [404] * 3
    assert all(one.text.count('data-part="report"') == 2 for one in (looked, both))
    assert (nothing.status_code, unsure.status_code, again.status_code) == (422, 422, 422)
    assert "1 gains" in text_of(page)
    assert "From 40.00 to 90.00" in text_of(behind)
    assert "count now" in text_of(done)
    assert "10 × 40 % = 4 → 10 × 90 % = 9" in text_of(after)
    assert HOSTILE not in page.text + after.text
    assert "graded once more" not in before + left


def test_what_a_class_misunderstands_leads_to_the_code(taught, visitor, site):
    """One sentence for each mistake; who still has it, with a way to the attempt; a wrong week is told."""
    with site.service.condition.database.write() as session:
        grading = session.scalar(select(SubmissionRow.current_grading).where(SubmissionRow.id == taught.attempt))
        session.add(DiagnosisRow(grading_id=grading, mistake="no_scaling", title=HOSTILE))
    address = f"/class/mistakes?class={taught.key}"
    with visitor(taught.people["instructor"]) as client:
        page = client.get(address)
        code = client.get(html.unescape(re.search(r'href="(/teach/[^"]*submission[^"]*)"', page.text)[1]))
        none, wrong = client.get(f"{address}&section=B"), client.get(f"{address}&week=soon")
    with visitor(taught.people["assistant"]) as client:
        own = client.get(address)

    assert "1 student in 1 attempt; 1 still has it" in text_of(page)
    assert HOSTILE not in page.text
    assert (code.status_code, "Ada Lovelace" in code.text) == (200, True)
    assert "No attempt names a mistake" in text_of(none)
    assert (wrong.status_code, "week" in text_of(wrong)) == (422, True)
    assert ("Ada Lovelace" in own.text, "submission=" in own.text) == (True, False)
