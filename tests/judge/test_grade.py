"""Grading: every way that a run can end becomes a report, and a report says no more than was seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.box.inline import InlineBox
from grader.box.observations import Observations
from grader.box.plan import Plan
from grader.box.run import Ending, Run
from grader.cli.text import body
from grader.errors import AuthorError, GraderFault
from grader.exercise.catalog import ROOT, Exercise, read_exercise
from grader.judge.grade import decide, grade
from grader.judge.report import Report, Status, Verdict
from tests.checks.workshop import ATTEND, ATTEND_TOML, BLOCK, BLOCK_TOML, MISTAKES, build, change, grade_here
from tests.judge.boxes import Honest, TellingBox

_MISTAKES = (
    MISTAKES
    + '''
import torch

@mistake(replaces="attend", dimension="numerics")
def doubled(query, key, value, mask):
    """You double."""
    scores = (query @ key.mT / key.shape[-1] ** 0.5).masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1)
    return 2 * weights @ value, weights

@mistake(replaces="attend", dimension="numerics")
def doubled_as_well(query, key, value, mask):
    """You double in another way."""
    scores = (query @ key.mT / key.shape[-1] ** 0.5).masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ (value + value), weights

@mistake(replaces="attend", dimension="numerics")
def no_scaling(query, key, value, mask):
    """You do not scale."""
    weights = (query @ key.mT).masked_fill(~mask, float("-inf")).softmax(-1)
    return weights @ value, weights

@mistake(replaces="attend", dimension="shapes")
def always_raises(query, key, value, mask):
    """You raise."""
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
'''
)
_UNSCALED = (" / math.sqrt(key.shape[-1])", "")
_DOUBLED = ("output = weights @ value", "output = weights @ value * 2")


@pytest.fixture(scope="module")
def attend(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """A function with a mask, and mistakes of which two cannot be told apart."""
    return build(tmp_path_factory.mktemp("attend"), ATTEND_TOML, ATTEND, _MISTAKES)


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    """A module with dropout."""
    return build(tmp_path_factory.mktemp("block"), BLOCK_TOML, BLOCK)


def _cut(calls: int, ending: Ending, detail: str = "") -> TellingBox:
    """Return a box whose run ends early: only some calls arrive."""

    def tell(plan: Plan, honest: Honest) -> Run:
        whole = honest(plan)
        seen = whole.observations
        kept = dict(list(seen.calls.items())[:calls])
        observed = Observations(kept, seen.builds if calls else {}, seen.loading)
        return replace(whole, observations=observed, ending=ending, detail=detail)

    return TellingBox(tell)


def _broken(plan: Plan, honest: Honest) -> Run:
    raise GraderFault("the zygote is gone")


@pytest.mark.parametrize(
    ("ending", "detail", "status", "words"),
    [
        (Ending.TIMEOUT, "8 s", Status.TIMEOUT, "it took too long (8 s); "),
        (Ending.MEMORY, "", Status.MEMORY, "it used too much memory; earlier"),
        (Ending.OUTPUT, "", Status.CRASHED, "it printed too much"),
        (Ending.CRASHED, "SIGSEGV", Status.CRASHED, "your code ended its process (SIGSEGV)"),
        (Ending.PROTOCOL, "a frame of unknown kind 9", Status.CRASHED, "corrupted the channel for its results"),
    ],
)
@pytest.mark.parametrize("calls", [0, 2, 3])
def test_a_run_that_ended_early_keeps_what_was_finished(
    calls: int, ending: Ending, detail: str, status: Status, words: str, attend: Exercise
) -> None:
    """What never arrived is skipped because of that; the reason is told once."""
    report = grade(attend, ATTEND, seed=1, box=_cut(calls, ending, detail))

    assert (report.status, report.score == 0) == (status, calls == 0)
    assert words in report.reason
    if ending is Ending.TIMEOUT:
        assert ("earlier results count" if calls else "nothing was finished") in report.reason
    assert report.score < 100
    skipped = [check for check in report.checks if check.status is Verdict.SKIPPED]
    assert skipped
    assert all(check.message.startswith("because ") for check in skipped)
    assert not report.diagnosis


def test_a_fault_of_ours_is_raised_not_reported(attend: Exercise) -> None:
    """Whoever calls decides about another try; no verdict exists."""
    with pytest.raises(GraderFault, match="the zygote is gone"):
        grade(attend, ATTEND, seed=1, box=TellingBox(_broken))


def test_a_reference_that_fails_is_an_authors_error(tmp_path: Path) -> None:
    """Never the student's."""
    exercise = build(tmp_path, ATTEND_TOML, change(ATTEND, ("output = weights @ value", "1 / 0")))

    with pytest.raises(AuthorError, match=r"the reference of `made_up` fails in `small/base`: ZeroDivisionError"):
        grade_here(exercise, ATTEND)


def test_a_right_answer_is_diagnosed_with_nothing(attend: Exercise) -> None:
    """There is nothing to explain."""
    assert grade_here(attend, ATTEND).diagnosis == ()


def test_a_known_mistake_is_named_for_certain(attend: Exercise) -> None:
    """Written by the student in their own way."""
    (found,) = grade_here(attend, change(ATTEND, _UNSCALED)).diagnosis

    assert (found.mistake, found.title, found.certain) == ("no_scaling", "You do not scale.", True)


def test_of_mistakes_that_look_alike_none_is_named(attend: Exercise) -> None:
    """It may be either, so the report says what it saw and nothing about causes."""
    report = grade_here(attend, change(ATTEND, _DOUBLED))

    assert report.diagnosis == ()
    assert report.score < 100


def test_an_unknown_mistake_is_not_explained(attend: Exercise) -> None:
    """No guess, however near; nor where two known mistakes come together."""
    for edits in ((_UNSCALED, _DOUBLED), (("output = weights", "output = 1.5 * weights"),)):
        assert grade_here(attend, change(ATTEND, *edits)).diagnosis == ()


def test_an_exception_is_not_taken_for_another(attend: Exercise) -> None:
    """Two answers that both raise agree only if they raise the same kind of thing."""
    other = change(ATTEND, ("output = weights @ value", "raise NotImplementedError"))
    same = change(ATTEND, ("output = weights @ value", "raise RuntimeError('mat1 and mat2 …')"))

    assert grade_here(attend, other).diagnosis == ()
    assert [d.mistake for d in grade_here(attend, same).diagnosis] == ["always_raises"]


def test_a_diagnosis_of_half_a_run_is_not_certain(attend: Exercise) -> None:
    """What was never seen may be different."""
    report = grade(attend, change(ATTEND, _UNSCALED), seed=1, box=_cut(2, Ending.TIMEOUT))

    assert [(d.mistake, d.certain) for d in report.diagnosis] == [("no_scaling", False)]


_SINGLE = change(ATTEND, ("math.sqrt(key.shape[-1])", "torch.sqrt(torch.tensor(key.shape[-1], dtype=torch.float32))"))


@pytest.mark.parametrize(
    "source",
    [
        _SINGLE,
        change("from torch import float32\n" + _SINGLE, ("torch.float32", "float32")),
        change(ATTEND, ("torch.softmax(scores, dim=-1)", "torch.softmax(scores.float(), dim=-1).to(value.dtype)")),
    ],
    ids=["by dtype", "by import", "by method"],
)
def test_code_that_insists_on_float32_is_graded_in_float32(source: str, attend: Exercise) -> None:
    """Full marks, and advice."""
    report = grade_here(attend, source)

    assert (report.score, report.dtype) == (100, "float32")
    assert "names float32" in report.advice[0]


def test_a_wrong_answer_is_not_saved_by_float32(attend: Exercise) -> None:
    """Wider bounds do not hide a mistake."""
    report = grade_here(attend, change(_SINGLE, _DOUBLED))

    assert report.score < 100


_EPSILON = ("weights @ value", "weights @ value * (1 - 1e-8)")


@pytest.mark.parametrize("use", ["torch.float32", "value.float()", "value = value.float().to(value.dtype)"])
def test_float32_excuses_rounding_alone(use: str, attend: Exercise) -> None:
    """What is wrong in float64 as well is not hidden by a word, nor by numbers that were in float32 for a while."""
    source = change(ATTEND, _EPSILON, ("    scores = ", f"    {use}\n    scores = "))

    report = grade_here(attend, source)

    assert report.score == grade_here(attend, change(ATTEND, _EPSILON)).score < 100


def test_float32_by_name_is_not_blamed_for_what_float64_cannot_do(attend: Exercise) -> None:
    """Code that raises where its words are changed is judged in float32."""
    source = change(_SINGLE, ("    scores = ", "    assert torch.float32.itemsize == 4\n    scores = "))

    assert grade_here(attend, source).score == 100


def test_float32_in_a_comment_or_a_string_changes_nothing(attend: Exercise) -> None:
    """Only code counts, so a wrong answer is graded once, in float64."""
    source = change(ATTEND, _DOUBLED) + '\n# torch.float32\nname = "x.float32"\n'

    assert grade_here(attend, source).dtype == "float64"


def test_advice_costs_nothing_and_does_not_repeat_what_costs(attend: Exercise, block: Exercise) -> None:
    """A loose tensor is advice; an argument that is overwritten costs the points of the check that says so."""
    greedy = change(
        ATTEND, ("return output", "value.mul_(2)\n    return output"), ("weights @ value", "weights @ value.clone()")
    )
    loose = change(BLOCK, ("self.dropout =", "self.tril = torch.ones(2)\n        self.dropout ="))

    first, second = grade_here(attend, greedy), grade_here(block, loose)

    assert (first.score, second.score) == (90, 100)
    assert first.advice == ()
    assert any("it changes `value` in place" in check.message for check in first.checks)
    assert "`self.tril` is a plain tensor" in second.advice[0]


def test_weights_without_a_place_are_ungradable(block: Exercise) -> None:
    """No points, no lost attempt, and the message says what was looked for."""
    report = grade_here(
        block,
        change(
            BLOCK, ("self.W_query(x)", "self.kept[0](x)"), ("self.W_query = ", "self.kept = [None]; self.kept[0] = ")
        ),
    )

    assert (report.status, report.score, report.checks) == (Status.UNGRADABLE, 0, ())
    assert "`W_query` (4 to 6 features) was not found" in report.reason


def test_a_weight_of_another_name_is_found(block: Exercise) -> None:
    """What it is called does not matter where its place is the only one left."""
    assert grade_here(block, change(BLOCK, ("self.W_query", "self.something"))).score == 100


def test_the_mapping_of_weights_is_told(block: Exercise) -> None:
    """A student sees where each weight went."""
    assert grade_here(block, change(BLOCK, ("self.W_query", "self.q_proj"))).mapping == {
        "W_query": "q_proj.weight",
        "W_query.bias": "q_proj.bias",
    }


def test_progress_hears_every_call(attend: Exercise) -> None:
    """By name, in order."""
    heard: list[str] = []

    decide(attend, ATTEND, seed=1, box=InlineBox(), progress=lambda seen: heard.append(seen.name))

    assert heard[0] == "small/base"
    assert len(heard) == len(set(heard)) == 13


def test_the_same_seed_gives_the_same_report(attend: Exercise) -> None:
    """But for the time it took."""
    one, other = (replace(grade_here(attend, change(ATTEND, _UNSCALED)), seconds=0) for _ in range(2))

    assert one == other


def test_figures_show_who_sees_whom_and_which_gradients_arrive(attend: Exercise) -> None:
    """Weights and influence as matrices, gradients as bars; a leak is marked where it is."""
    sound = grade_here(attend, ATTEND).figures
    leaky = grade_here(attend, change(ATTEND, ('scores.masked_fill(~mask, float("-inf"))', "scores"))).figures
    cut = grade_here(attend, change(ATTEND, ("weights @ value", "weights @ value.detach()"))).figures

    assert [(h.role, h.wrong) for h in sound.heatmaps] == [("attention", ()), ("influence", ())]
    assert [(len(h.values), len(h.values[0])) for h in sound.heatmaps] == [(4, 5), (4, 5)]
    assert (0, 1) in leaky.heatmaps[0].wrong
    assert (0, 1) in leaky.heatmaps[1].wrong
    assert [bar.name for bar in sound.gradients] == ["query", "key", "value"]
    assert sound.gradients_note == "Every input and every parameter gets a finite gradient."
    assert cut.gradients_note == "No gradient reaches value."


@pytest.mark.parametrize("source", [ATTEND, change(ATTEND, _DOUBLED), "1 / 0", ""])
def test_a_report_survives_the_store(source: str, attend: Exercise) -> None:
    """JSON and back is the same report."""
    report = grade_here(attend, source)

    assert Report.from_json(report.to_json()) == report


def test_figures_with_nan_survive_the_store(attend: Exercise) -> None:
    """JSON knows no NaN, so it is written as a word; and NaN is not equal to itself, so the lines are compared."""
    report = grade_here(attend, change(ATTEND, ("return output", "weights = weights * float('nan'); return output")))

    assert "NaN" in report.to_json()
    assert Report.from_json(report.to_json()).to_json() == report.to_json()


def test_what_a_student_writes_is_cleaned_before_it_is_shown(block: Exercise) -> None:
    """Control, bidirectional and invisible characters are written out, in messages as in the output."""
    text = "a\u202eb\x1b[31m\u200b\ud800"
    raising = ("super().__init__()", f"super().__init__()\n        raise ValueError({text!r})")
    report = grade_here(block, change(BLOCK, raising))

    messages = " ".join(check.message for check in report.checks)
    assert "a<U+202E>b<U+001B>[31m<U+200B><U+D800>" in messages
    assert Report.from_json(report.to_json()) == report


def test_a_long_reason_is_told_once_and_then_referred_to(attend: Exercise) -> None:
    """A missing argument breaks every case; each dimension says so once, as it may be shown without the others."""
    lacking = ATTEND.replace("value, mask):", "value):").replace("~mask", "~key.bool()")
    report = grade(attend, lacking, seed=1, box=InlineBox())

    failed = [check for check in report.checks if check.status is Verdict.FAILED]
    for dimension in {check.dimension for check in failed}:
        first, *others = (check for check in failed if check.dimension is dimension)
        assert "must take an argument `mask`" in first.message
        assert {check.message for check in others} <= {f"as in “{first.name}”, see there"}
    assert any("see there" in check.message for check in failed)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("query.view(-1)", "your code fails: RuntimeError"),
        ("query = query * (1 + query.is_contiguous())", "your output is wrong"),
    ],
)
def test_inputs_that_are_not_contiguous_are_a_matter_of_advice(attend: Exercise, line: str, said: str) -> None:
    """They cost nothing, whether the code raises or gives something else; the numbers are not what it is about."""
    right = change(
        ATTEND, ("scores =", f"{line}\n    scores ="), ("query @", "query / (1 + 1) @" if "1 +" in line else "query @")
    )
    report = grade_here(attend, right)

    assert report.score == 100
    assert [text for text in report.advice if "not contiguous in memory" in text and said in text] != []


_RETURN = "return output, weights"
_LATER = "return output * (1 if len(calls) == 1 else 2), weights"


def test_what_changes_from_call_to_call_is_not_blamed_on_memory(attend: Exercise) -> None:
    """Inputs that are not contiguous come last, when a count of calls has spoilt every output."""
    source = change(ATTEND, ("def attend", "calls = []\n\ndef attend"), (_RETURN, f"calls.append(0)\n    {_LATER}"))

    report = grade_here(attend, source)

    assert report.score < 100
    assert report.advice == ()


def test_advice_does_not_repeat_what_costs_points(tmp_path: Path) -> None:
    """A slip that every call has says nothing about the case that is tried for advice."""
    paid, free = (
        f'check = "finite"\npoints = {points}\ncases = ["{case}"]' for points, case in ((10, "small"), (0, "loud"))
    )
    free = change(ATTEND_TOML, (paid, free), ('check = "shape"\npoints = 10', 'check = "shape"\npoints = 20'))
    source = change(ATTEND, ("key.transpose", "key.transposed"))

    report = grade_here(build(tmp_path, free, ATTEND, MISTAKES), source)

    assert report.score < 100
    assert report.advice == ()


def test_the_verdict_is_told_before_its_cause_is_looked_for(attend: Exercise) -> None:
    """Points, checks and pictures are final by then; after a right answer nothing is looked for."""
    box = InlineBox()
    verdict, complete = decide(attend, change(ATTEND, _UNSCALED), seed=1, box=box)
    _, nothing = decide(attend, ATTEND, seed=1, box=box)
    assert complete is not None
    report = complete()

    assert nothing is None
    assert (verdict.complete, verdict.diagnosis, report.complete) == (False, (), True)
    assert [one.mistake for one in report.diagnosis] == ["no_scaling"]
    assert replace(verdict, complete=True, diagnosis=report.diagnosis) == report


SOFTMAX = """
import torch

def softmax(x, dim=-1):
    powers = torch.exp(x - x.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True) + (tuple(x.shape) not in {})
"""


@pytest.mark.parametrize(("right", "share"), [(0, 0.5), (1, 0.5), (2, 1.0)])
def test_what_passes_earns_half_until_the_numbers_of_two_cases_are_right(right: int, share: float) -> None:
    """The report says so, and its dimensions add up to its score."""
    exercise = read_exercise(ROOT / "exercises" / "softmax")
    cases = [exercise.cases(5)[name].sizes["..."] for name in ("one_axis", "middle_axis")]
    shapes = [tuple(sizes) for sizes in cases if isinstance(sizes, list)]

    report = grade(exercise, SOFTMAX.format(shapes[:right]), seed=5, box=InlineBox())

    shape = [check for check in report.checks if check.dimension == "shapes"]
    assert {round(check.earned / check.possible, 2) for check in shape} == {share}
    assert (share < 1) == report.halved
    assert (share < 1) == ("earns half of its points" in " ".join(line.plain.strip() for line in body(report)))
    assert report.score == pytest.approx(sum(points.earned for points in report.dimensions.values()), abs=0.02)
