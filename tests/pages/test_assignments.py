"""A student's assignments: until when, what a hand-in costs now, what came of it, and what is not to be seen yet."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import httpx
import pytest
from playwright.sync_api import Page, expect

from grader.judge.report import Dimension, Report, Status, Verdict
from grader.service.classes.requests import ClassRefusal
from grader.store import gradings, people
from grader.store.classes import find_person
from grader.store.gradings import Grading, Versions
from grader.store.records import Role, State, SubmissionId
from tests.pages.conftest import Person, Site, in_a_loop
from tests.pages.samples import check, failed_report

ZONE = "Europe/Berlin"
NUMBERS = itertools.count(1)
RIGHT = "import torch\n\n\ndef softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n"
VERSIONS = Versions(exercise="v", grader="", torch="")


def wall(days: int) -> str:
    """Return midnight's last minute so many days from now, on the wall of the class."""
    return f"{datetime.now(ZoneInfo(ZONE)) + timedelta(days=days):%Y-%m-%d}T23:59"


@dataclass(frozen=True)
class Taught:
    """A class with one student, `who`."""

    site: Site
    key: str
    who: Person
    email: str

    def do(self, name: str, /, *, by: str = "admin", **fields: object) -> dict:
        """Ask something of the class."""
        return dict(self.site.service.classes.do(by, name, {"class": self.key, **fields}))

    def assign(self, key: str, exercise: str, days: int, **more: object) -> None:
        """Make an assignment of one exercise that is due so many days from now."""
        self.do("assign", assignment=key, items={exercise: "10"}, opens=wall(-30), due=wall(days), **more)

    def hand_in(self, key: str, exercise: str, score: str) -> SubmissionId:
        """Hand in for the student; return the id."""
        id = f"{next(NUMBERS):024x}"
        self.do("hand_in", by=self.email, person=self.email, assignment=key, exercise=exercise, id=id, score=score)
        return SubmissionId(id)


@pytest.fixture
def taught(site: Site) -> Taught:
    """Give a class with a student who joined long ago and is signed in."""
    number = next(NUMBERS)
    key, email = f"K{number}", f"ada{number}@school.edu"
    classes = site.service.classes
    classes.do("admin", "class", {"class": key, "name": "Class", "zone": ZONE, "bank": 4, "sections": []})
    classes.do("admin", "import", {"class": key, "csv": f"email,name\n{email},Ada"})
    with site.service.condition.database.write() as session:
        user = find_person(session, email)
        assert user is not None
        known = people.user(session, user)
        assert known is not None
        session.connection().exec_driver_sql("UPDATE memberships SET joined = 1.0 WHERE class_id > 1")
    return Taught(site, key, Person(known, site.service.begin_session(known)), email)


def test_a_late_student_reads_what_a_hand_in_costs_before_the_click(
    taught: Taught, open_page: Callable[..., Page]
) -> None:
    taught.assign("A-1", "softmax", -2, late={"per_day": "0.2", "bank_max": 2, "cutoff": 3})
    cost = "2 days late, both from your bank of 4; without late days −40 %"
    page = open_page("/assignments", taught.who, viewport={"width": 390, "height": 844})

    expect(page.locator("main")).to_contain_text(cost)
    expect(page.locator("main")).to_contain_text(f"({ZONE}), 1 day ago; late hand-ins are taken until")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto("/exercise?ex=softmax")
    expect(page.locator(".gym-goal")).to_contain_text(cost)


def test_a_hand_in_goes_to_the_assignment_and_is_explained(
    taught: Taught, handed_in: Callable[..., SubmissionId], visitor: Callable[..., httpx.Client]
) -> None:
    taught.assign("A-1", "softmax", 5)
    id = handed_in(taught.who, RIGHT, "softmax")
    (line,) = taught.do("grades")["people"]

    assert line["cells"]["A-1"]["items"]["softmax"]["attempt"] == id
    with visitor(taught.who) as client:
        assert line["cells"]["A-1"]["explain"] in client.get("/assignments").text


def test_an_attempt_is_set_aside_by_its_owner_only(
    taught: Taught, person: Callable[..., Person], visitor: Callable[..., httpx.Client]
) -> None:
    taught.assign("A-1", "softmax", -2, late={"per_day": "0.2", "bank_max": 2, "cutoff": 3})
    id = taught.hand_in("A-1", "softmax", "80")
    with visitor(person()) as other:
        refused = other.post("/assignments", data={"attempt": id})
    with visitor(taught.who) as client:
        before = client.get("/assignments")
        done = client.post("/assignments", data={"attempt": id}, follow_redirects=True)
        undone = client.post("/assignments", data={"attempt": id, "undo": "yes"}, follow_redirects=True)

    assert (refused.status_code, "no such attempt among yours" in refused.text) == (403, True)
    assert "+8.00 points for 2 of your 4 late days" in before.text
    assert "Let it count again" in done.text
    assert "8.00 of 10.00" not in done.text
    assert _told(undone) == _told(before)


def test_nothing_that_a_student_can_ask_for_tells_a_hidden_result(
    taught: Taught, visitor: Callable[..., httpx.Client]
) -> None:
    """Whatever the result is, each page is the same to the byte; once it is published, it is there."""
    taught.assign("A-1", "softmax", 5, show="after_publication")
    taught.assign("A-2", "causal_mask", -2, late={"per_day": "0.1", "bank_max": 2, "cutoff": 3})
    taught.hand_in("A-2", "causal_mask", "70")
    id = taught.hand_in("A-1", "softmax", "100")
    paths = ("/", "/assignments", "/work", "/leaderboard", "/leaderboard?ex=softmax", f"/compare?attempt={id}")
    seen = []
    with visitor(taught.who) as client:
        for status, score in ((Status.GRADED, 100.0), (Status.GRADED, 20.0), (Status.UNGRADABLE, 0.0)):
            _grade(taught.site, id, status, score)
            opened = client.post("/gradio_api/run/open?ex=softmax", json={"data": [], "session_hash": "abc"})
            seen.append([_told(client.get(path)) for path in paths] + opened.json()["data"])
        taught.do("publish", assignment="A-1")
        _grade(taught.site, id, Status.GRADED, 20.0)
        after = client.get("/assignments").text

    assert seen[0] == seen[1] == seen[2]
    assert "2.00 of 10.00" in after


def test_a_part_of_a_report_is_shown_and_tells_nothing_of_the_rest(
    taught: Taught, visitor: Callable[..., httpx.Client]
) -> None:
    """Three results that differ in their masking, and in all that follows from it, give the same bytes everywhere."""
    taught.assign("A-1", "causal_mask", 5, show_checks={"masking": "after_due"})
    taught.assign("A-2", "causal_mask", -2, late={"per_day": "0.1", "bank_max": 2, "cutoff": 3})
    taught.hand_in("A-2", "causal_mask", "70")
    id = taught.hand_in("A-1", "causal_mask", "100")
    paths = ("/", "/assignments", "/work", "/leaderboard", "/leaderboard?ex=causal_mask", f"/compare?attempt={id}")
    shown = check("small: shape", Dimension.SHAPES, Verdict.FAILED, "yours has two axes")
    passed = check("small: influence", Dimension.MASKING, Verdict.PASSED)
    reports = [
        replace(failed_report(), checks=(shown, check("small: influence", Dimension.MASKING, Verdict.FAILED, "no"))),
        replace(failed_report("other"), score=90.0, checks=(replace(shown, possible=9.0), passed), complete=False),
        Report("causal_mask", Status.TIMEOUT, 5.0, 0, "cpu", 9.0, checks=(shown,), reason="stopped in a hidden case"),
    ]
    seen = []
    with visitor(taught.who) as client:
        for report in reports:
            _store(taught.site, id, report)
            json = {"data": [], "session_hash": "abc"}
            opened = client.post(f"/gradio_api/run/open?ex=causal_mask&attempt={id}", json=json).json()["data"]
            again = client.post("/gradio_api/run/restore", json={**json, "data": [id]}).json()["data"]
            seen.append([_told(client.get(path)) for path in (*paths, f"/runs/{id}")] + opened + again)

    assert seen[0] == seen[1] == seen[2]
    told = "".join(seen[0])
    assert ("yours has two axes" in told, "small: influence" in told, "0/5" in told) == (True, False, False)
    assert "Your class does not show yet: Masking" in told


def test_a_hidden_run_ends_like_every_other(taught: Taught) -> None:
    taught.assign("A-1", "softmax", 5, show="never")
    id = taught.hand_in("A-1", "softmax", "100")
    service, user = taught.site.service, taught.who.user

    async def watched() -> list[State]:
        return [one.state async for one in service.watch(user, id)]

    assert in_a_loop(watched()) == [State.SEALED]
    found = service.submission(user, id)
    assert (found.state, found.report) == (State.SEALED, None)
    assert service.best(user) == {}


def test_an_attempt_that_could_not_be_graded_says_that_it_uses_none(
    taught: Taught, visitor: Callable[..., httpx.Client]
) -> None:
    taught.assign("A-1", "softmax", 5, attempts=1)
    id = taught.hand_in("A-1", "softmax", "ungradable")
    with visitor(taught.who) as client:
        page = client.get("/assignments").text

    assert id in page
    assert "could not be graded, and uses up no attempt" in page
    assert "1 attempt left" in page


def test_whoever_studies_nowhere_has_no_link_to_assignments(
    taught: Taught, person: Callable[..., Person], visitor: Callable[..., httpx.Client]
) -> None:
    name = f"iris of {taught.key}"
    iris = person(name, role=Role.LEARNER)
    taught.do("staff", person=name, name="Iris", role="instructor")
    heads = []
    for who in (taught.who, iris):
        with visitor(who) as client:
            heads.append(client.get("/work").text.partition("</header>")[0])

    assert ['href="/assignments"' in head for head in heads] == [True, False]
    assert 'href="/classes"' in heads[1]


def test_a_guest_is_led_to_sign_in(visitor: Callable[..., httpx.Client]) -> None:
    with visitor() as guest:
        answer = guest.get("/assignments")

    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/assignments")


def test_somebody_of_a_roster_signs_in_with_their_address_in_any_case(taught: Taught) -> None:
    """Once they have set a password by their link, which the class's instructor gets for those without one."""
    service = taught.site.service
    number = next(NUMBERS)
    taught.do("staff", person=f"iris{number}@school.edu", name="Iris", role="instructor")
    with service.condition.database.read() as session:
        id = find_person(session, f"iris{number}@school.edu")
        assert id is not None
        iris = people.user(session, id)
    assert iris is not None
    links = {email: token for email, _, token in service.own_account.links_for_new(iris, taught.key)}
    service.own_account.reset(links[taught.email], "correct horse battery")

    token = service.sign_in(taught.email.upper(), "correct horse battery", "127.0.0.1")
    assert service.user_of(token) == taught.who.user
    assert taught.email not in {email for email, _, _ in service.own_account.links_for_new(iris, taught.key)}


def _grade(site: Site, id: SubmissionId, status: Status, score: float) -> None:
    _store(site, id, Report("softmax", status, score, 0, "cpu", 0.0))


def _store(site: Site, id: SubmissionId, report: Report) -> None:
    grading = Grading.of(report, VERSIONS, 1.0)
    with site.service.condition.database.write() as session:
        gradings.store(session, id, grading)


def _told(answer: httpx.Response) -> str:
    """Return a page without the number that is drawn anew for each."""
    assert answer.status_code == 200
    return re.sub(r'nonce="[^"]*"', "", answer.text)


def test_what_a_student_types_is_never_taken_for_a_given_result(
    taught: Taught, handed_in: Callable[..., SubmissionId]
) -> None:
    """Neither at a regrade, where the source looks like one, nor as an event of somebody who is signed in."""
    taught.assign("A-1", "softmax", 5)
    handed_in(taught.who, '{"given": "100"}', "softmax")
    fields = {"class": taught.key, "person": taught.email, "exercise": "softmax", "id": "mine", "score": 100}

    taught.do("regrade", exercise="softmax", change="c1", reason="a case more")
    end = time.monotonic() + 60.0
    while (found := taught.do("change", change="c1"))["waiting"] and time.monotonic() < end:
        time.sleep(0.05)
    with pytest.raises(ClassRefusal) as given:
        taught.site.service.classes.do(taught.who.user, "hand_in", fields)
    assert given.value.code == "not_allowed"
    assert [(before, after) for before, after, _ in found["matrix"]] == [("rejected", "rejected")]
