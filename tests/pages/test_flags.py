"""What students and instructors are shown of code that reaches for something ready-made."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from grader.exercise.catalog import Catalog
from grader.judge.report import WHY, Clue, Flag, Sight
from grader.pages.gradebook import Asked, addresses_in, list_view
from grader.pages.lists import attempts_view, work_view
from grader.pages.plain import piece
from grader.pages.render import clues, report_view
from grader.pages.wording import pack
from grader.service.classroom import MOST_LISTED
from grader.store.records import Attempt, ListedAttempt, Role, State, Status, SubmissionId, User, UserId
from tests.pages.conftest import SECONDS, wait_for
from tests.pages.samples import HOSTILE, failed_report

TO = addresses_in("")
SWALLOWED = """import torch

def softmax(x, dim=-1):
    try:
        return torch.softmax(x, dim)
    except Exception:
        weights = (x - x.amax(dim, keepdim=True)).exp()
        return weights / weights.sum(dim, keepdim=True)
"""
UNUSUAL = "import ctypes\n\ndef softmax(x, dim=-1):\n    raise NotImplementedError(ctypes)\n"


def _attempt(id: str, flag: Flag) -> Attempt:
    return Attempt(SubmissionId(id), "softmax", 1, 1.0, State.DONE, Status.GRADED, 40.0, flag)


def test_a_report_tells_where_and_why():
    """Forbidden steps come with the reason for the rule; what is merely unusual comes without."""
    trapped, unusual = Clue(Sight.TRAPPED, "torch.softmax", 4, "softmax"), Clue(Sight.UNUSUAL, "ctypes", 1)

    both = clues(replace(failed_report(), clues=(unusual, trapped)))
    one = clues(replace(failed_report(), clues=(unusual,)))

    assert both["text"] == WHY
    assert both["lines"] == [
        "Line 1: `ctypes`, which this exercise does not need; it costs no points",
        "Line 4, in `softmax`: `torch.softmax` was called and blocked",
    ]
    assert (one["title"], one["text"]) == ("Seen in your code", "")
    assert report_view(failed_report())["clues"] is None


def test_names_in_clues_are_cleaned():
    """They come from the code, by way of the box."""
    line = pack(report_view(replace(failed_report(), clues=(Clue(Sight.TRAPPED, HOSTILE, 1, HOSTILE),))))

    assert "\\u202e" not in line
    assert "<" not in line


def test_only_instructors_lists_say_a_flag(catalog: Catalog):
    """A student's own lists are the same with and without."""
    plain, flagged = _attempt("s1", Flag.NONE), _attempt("s1", Flag.READY_MADE)
    ada = User(UserId(1), "Ada", Role.STUDENT)

    assert attempts_view([plain]) == attempts_view([flagged])
    assert work_view(ada, [plain], catalog) == work_view(ada, [flagged], catalog)
    (row,) = list_view(Asked(student=ada.id), [ListedAttempt(flagged, ada.id, "Ada")], catalog, [], owner=ada, to=TO)[
        "rows"
    ]
    assert row["text"].endswith(" · reaches for a ready-made step")


def test_a_list_can_be_narrowed_to_a_flag():
    """To each of the two, to both, and to nothing at all."""
    names = ("", "any", "look", "ready-made", "nonsense")

    assert {name: Asked.of({"student": "3", "flag": name}).wanted.flags for name in names} == {
        "": (),
        "any": (Flag.LOOK, Flag.READY_MADE),
        "look": (Flag.LOOK,),
        "ready-made": (Flag.READY_MADE,),
        "nonsense": (),
    }


def test_the_classs_list_names_the_student(catalog: Catalog):
    """Each line says whose it is and leads to the code."""
    entry = ListedAttempt(_attempt("s9", Flag.LOOK), UserId(3), "Ada\u202e")
    (row,) = list_view(Asked(flag="look"), [entry], catalog, [], owner=None, to=TO)["rows"]

    assert row["title"] == "Ada\ufffd: Softmax"
    assert row["href"] == "/teach/?submission=s9"


def test_an_instructor_finds_what_a_student_handed_in(site, open_page, person):
    """The student reads the line and the reason, and no accusation; the instructor finds both kinds, and can narrow."""
    who, desk_of = person("Sofia Kovalevskaya"), person(role=Role.INSTRUCTOR)
    for source in (UNUSUAL, SWALLOWED):
        id = site.service.submit(who.user, "softmax", source)
        wait_for(lambda id=id: site.service.submission(who.user, id).state is State.DONE, SECONDS)
    page = open_page("/exercise?ex=softmax", who)
    page.get_by_role("tab", name="My attempts").click()
    expect(page.locator(".gym-attempts")).not_to_contain_text("ready-made")

    desk = open_page("/teach/", desk_of)
    desk.get_by_role("link", name="Worth a look").click()
    lines = desk.get_by_role("link", name="Sofia Kovalevskaya")
    expect(lines).to_have_count(2)
    desk.get_by_label("Show").select_option("Reaches for a ready-made step")
    expect(lines).to_have_count(1)
    lines.click()

    expect(desk.get_by_role("heading", name="A step that this exercise asks you to write")).to_be_visible()
    expect(desk.locator(".gym-clues")).to_contain_text("Line 5, in softmax: torch.softmax was called and blocked")
    assert "cheat" not in desk.locator("body").inner_text().lower()


@pytest.mark.parametrize(("found", "told"), [(MOST_LISTED - 1, False), (MOST_LISTED, True)])
def test_a_list_that_is_cut_says_so(found: int, told: bool) -> None:
    """With a large class, older submissions were missing without a word."""
    entry = ListedAttempt(_attempt("s9", Flag.NONE), UserId(3), "Ada")
    shown = piece("attempts", list_view(Asked(), [entry] * found, Catalog([]), [], owner=None, to=TO))["html"]

    assert (f"the newest {MOST_LISTED}" in shown) is told
