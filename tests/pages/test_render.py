"""A report becomes what the page draws."""

from dataclasses import replace
from math import inf

from grader.box.inline import InlineBox
from grader.exercise.catalog import Catalog
from grader.judge.grade import grade
from grader.judge.report import Diagnosis, Dimension, Location, Property, Status, StepSeen, Verdict
from grader.pages.render import causes, groups, report_view, sentence, title, tone
from grader.pages.wording import pack
from tests.pages.samples import HOSTILE, accepted_report, check, ended_report, failed_report


def test_groups_with_failures_come_first_and_are_open():
    """The masking group, with a failed check, stands before the shapes group, which is folded."""
    view = groups(failed_report().checks)

    assert [(group["name"], group["open"]) for group in view] == [("Masking", True), ("Shapes", False)]


def test_groups_are_folded_below_a_cause():
    """Who is told what went wrong need not read the list of checks first; without a cause it is all there is."""
    plain = replace(failed_report(), diagnosis=(), location=None, reason="")
    diagnosed = replace(plain, diagnosis=(Diagnosis("late", "Your mask starts late", "See line 3.", certain=True),))

    assert not any(group["open"] for group in report_view(diagnosed)["groups"])
    assert any(group["open"] for group in report_view(plain)["groups"])


def test_failed_checks_come_first_in_their_group():
    """Within a group the order is failed, broken, skipped, passed."""
    statuses = [Verdict.PASSED, Verdict.SKIPPED, Verdict.FAILED, Verdict.BROKEN]
    checks = [check(status.value, Dimension.NUMERICS, status) for status in statuses]

    shown = [one["status"] for one in groups(checks)[0]["checks"]]

    assert shown == ["failed", "broken", "skipped", "passed"]


def test_a_group_counts_what_passed():
    """The count names passed checks, the badge failed ones."""
    group = groups(failed_report().checks)[0]

    assert (group["count"], group["badge"]) == ("1 of 2 passed", "1 failed")


def test_full_marks_read_accepted():
    """A report in which every check passed is accepted."""
    assert title(accepted_report()) == "Accepted"


def test_no_checks_are_never_accepted():
    """A submission that ended before any check says why in its title."""
    assert title(ended_report(Status.TIMEOUT, "")) == "Your code ran out of time"


def test_code_that_was_stopped_at_a_known_line_has_one_card():
    """The reason and the line stand together; beside a known mistake, or without a line, the reason has its own."""
    stopped = ended_report(Status.TIMEOUT, "your code was stopped; earlier results count")
    place = Location("", "The time was over in line 3", "It was still there after 1 s.", 3)
    known = Diagnosis("late", "Your mask starts late", "See line 3.", certain=True)
    view, alone = report_view(replace(stopped, location=place)), report_view(stopped)
    both = report_view(replace(stopped, location=place, diagnosis=(known,)))

    assert (view["reason"], view["causes"]) == ("", [{
        "kind": "What happened", "title": "The time was over in line 3",
        "message": "Your code was stopped; earlier results count.\n\nIt was still there after 1 s.",
    }])  # fmt: skip
    assert (alone["reason"], alone["causes"]) == ("Your code was stopped; earlier results count", [])
    assert both["reason"] == alone["reason"]
    assert [one["title"] for one in both["causes"]] == ["Your mask starts late"]


def test_what_uses_up_no_attempt_says_so():
    """A rejected submission tells the student that it does not count."""
    view = report_view(ended_report(Status.REJECTED, "line 3: invalid syntax"), number_of_attempt=2)

    assert (view["reason"], view["free"], view["lines"]) == ("Line 3: invalid syntax", "No attempt was used.", [])


def test_a_fault_of_ours_costs_nothing_and_has_a_number():
    """The student is told that no attempt was used, and what to tell the instructor."""
    view = report_view(replace(ended_report(Status.UNGRADABLE, ""), incident="ab12"), number_of_attempt=2)

    assert view["free"] == "This costs you nothing: no attempt was used."
    assert view["lines"] == ["If it happens again, tell your instructor this number: ab12"]


def test_what_many_checks_say_in_the_same_words_is_said_once():
    """The reason stands above the groups, and checks that say the same share a line and add their points."""
    checks = [check(f"case {n}", Dimension.SHAPES, Verdict.FAILED, "no `forward`") for n in (1, 2, 3)]
    report = replace(failed_report(), checks=(*checks,), diagnosis=())

    view = report_view(report)

    assert [(one["title"], one["message"]) for one in view["causes"]] == [
        ("3 checks failed for the same reason", "No `forward`")
    ]
    assert [(one["name"], one["points"]) for one in view["groups"][0]["checks"]] == [("case 1\ncase 2\ncase 3", "0/15")]


def test_a_reason_that_begins_with_a_name_keeps_its_letters():
    """Only an ordinary word gets a capital letter."""
    assert [sentence(text) for text in ("your code", "`x` is", "torch.nn is", "")] == [
        "Your code", "`x` is", "torch.nn is", "",
    ]  # fmt: skip


def test_scores_have_a_colour_by_share():
    """All points are good, half of them fair, less is poor, and no points to earn have no colour."""
    assert [tone(earned, 10.0) for earned in (10.0, 5.0, 4.9)] + [tone(0.0, 0.0)] == ["good", "fair", "poor", "none"]


def test_a_missing_gradient_is_said():
    """A parameter without a gradient has an empty bar in the colour of an error."""
    bars = report_view(failed_report())["bars_of_gradients"]

    assert [(bar["name"], bar["text"], bar["tone"]) for bar in bars] == [
        ("x", "0.2", "good"),
        ("W_key", "no gradient", "poor"),
    ]


def test_two_mistakes_are_announced_as_two():
    """Each says that it is one of two, and how sure that is."""
    two = (Diagnosis("one", "One.", "why", certain=True), Diagnosis("other", "Other.", "why", certain=True))
    shaky = tuple(replace(diagnosis, certain=False) for diagnosis in two)

    assert [one["kind"] for one in causes(replace(failed_report(), diagnosis=two))] == [
        "Two mistakes together: the first by itself", "Two mistakes together: the second by itself",
    ]  # fmt: skip
    second = causes(replace(failed_report(), diagnosis=shaky))[1]
    assert second["kind"] == "Likely two mistakes together: the second by itself"
    assert [one["kind"] for one in causes(replace(failed_report(), diagnosis=two[:1]))] == ["What went wrong"]


def test_properties_say_what_holds_and_what_was_not_looked_at():
    """The mark has words of its own, for whoever does not see it."""
    told = [Property("rows add up", "why", holds, "") for holds in (True, False, None)]

    view = report_view(replace(failed_report(), properties=tuple(told)))

    assert [(one["title"], one["status"], one["said"]) for one in view["properties"]] == [
        ("Rows add up", "passed", "holds"),
        ("Rows add up", "failed", "does not hold"),
        ("Rows add up", "skipped", "not seen here"),
    ]


def test_hostile_text_is_cleaned_wherever_a_report_quotes_code():
    """No part of a report brings a direction mark or markup to the page."""
    line = pack(report_view(failed_report(HOSTILE)))

    assert "\\u202e" not in line
    assert "<" not in line


def test_a_page_without_a_report_draws_nothing():
    """Before the first verdict the report part is empty."""
    assert report_view(None) == {"empty": True}


def test_the_steps_of_a_location_reach_the_page_with_words_for_infinities():
    """Yours, expected, the cells that differ and the line; a report without steps has none."""
    stage = StepSeen("masked", "Hide later positions", "first", ((0.5, -inf),), ((0.5, 2.0),), ((0, 1),), "line 4")
    located = Location("hide_future", "Wrong at line 4", "So it is.", 4, "five tokens", (stage,))
    view = report_view(replace(failed_report(), location=located))["stages"]

    assert view["case"] == "five tokens"
    assert view["stages"] == [
        {
            "name": "masked",
            "title": "Hide later positions",
            "standing": "first",
            "place": "line 4",
            "expected": [[0.5, "-inf"]],
            "yours": [[0.5, 2.0]],
            "wrong": ((0, 1),),
        }
    ]
    assert report_view(replace(failed_report(), location=None))["stages"] is None


def test_an_exercise_without_masking_has_no_bar_for_it():
    """A report has a bar for each dimension that gives points, and for no other."""
    report = grade(Catalog.load()["softmax"], "def softmax(x, dim=-1):\n    return x", seed=1, box=InlineBox())

    assert [bar["name"] for bar in report_view(report)["bars"]] == ["Shapes", "Numerics", "Gradient flow"]
