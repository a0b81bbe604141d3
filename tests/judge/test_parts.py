"""Scoring, source and text: the small decisions that a report is made of."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from grader.checks.evidence import Item, Options
from grader.checks.finding import PASSED, Finding, failed
from grader.checks.registry import checks
from grader.errors import Rejected
from grader.exercise.inputs import Case
from grader.exercise.spec import CheckSpec, Dimension
from grader.judge import verdicts
from grader.judge.report import CheckResult, Points, Report, Status, Verdict
from grader.judge.source import in_double_precision, names_single_precision, read_source
from grader.judge.text import clean
from grader.judge.verdicts import Judged


@dataclass(frozen=True)
class _Line:
    check: str
    points: float
    finding: Finding


def _judged(*lines: _Line) -> list[Judged]:
    case = Case("c", "c", {}, {}, {}, (), (), (), (), {})
    specs = (CheckSpec(check=line.check, points=line.points, cases=("c",)) for line in lines)
    return [
        Judged(Item(spec, checks()[spec.check], Options(), case, f"c: {number}", line.points), line.finding)
        for number, (spec, line) in enumerate(zip(specs, lines, strict=True))
    ]


def test_thirds_add_up_to_a_hundred() -> None:
    """Where everything passed, rounding takes nothing away."""
    lines = _judged(*(_Line("values", 100 / 3, PASSED) for _ in range(3)))

    assert verdicts.score(lines) == 100
    assert verdicts.by_dimension(lines) == {Dimension.NUMERICS: Points(100, 100)}


def test_rounding_never_gives_a_hundred() -> None:
    """The smallest failure shows in the score."""
    lines = _judged(_Line("values", 99.999, PASSED), _Line("shape", 0.001, failed("no")))

    assert verdicts.score(lines) == 99.99


def test_no_checks_are_no_pass() -> None:
    """Zero of zero is zero."""
    assert verdicts.score([]) == 0
    assert not Report("e", Status.GRADED, 0, 1, "cpu", 0.1).accepted


def test_advice_has_no_points_and_no_line() -> None:
    """A check of 0 points is told as a remark, and does not keep anybody from full marks."""
    lines = _judged(_Line("values", 100, PASSED), _Line("finite", 0, failed("NaN\u202e")))

    assert verdicts.score(lines) == 100
    assert [line.name for line in verdicts.results(lines)] == ["c: 0"]
    assert verdicts.remarks(lines) == ("c: 1: NaN<U+202E>",)


def test_skipped_and_broken_checks_earn_nothing() -> None:
    """Only a pass is a pass."""
    for verdict in (Verdict.SKIPPED, Verdict.BROKEN, Verdict.FAILED):
        report = Report(
            "e", Status.GRADED, 0, 1, "cpu", 0.1, checks=(CheckResult("n", Dimension.SHAPES, verdict, 0, 1),)
        )
        assert not report.accepted
        assert verdicts.score(_judged(_Line("values", 100, Finding(verdict, "…")))) == 0


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        ("\n \t", "empty"),
        ("a\nb\0", "NUL character in line 2"),
        (b"ab\xff", "byte 2 is 0xff"),
        ("é" * (128 * 1024) + "x", "your file is too long: at most 256 KiB are allowed"),
    ],
)
def test_what_is_no_source_text_is_refused_with_a_reason(source: str | bytes, words: str) -> None:
    """Nothing is run for it."""
    with pytest.raises(Rejected) as caught:
        read_source(source, limit_bytes=256 << 10)

    assert words in str(caught.value)


def test_a_byte_order_mark_and_any_line_ends_are_fine() -> None:
    """Editors on other systems write them."""
    assert read_source(b"\xef\xbb\xbfx = 1\r\ny = 2\r\n", limit_bytes=99) == "x = 1\r\ny = 2\r\n"
    assert read_source("x" * 99, limit_bytes=99) == "x" * 99


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("x.to(torch.float32)", True),
        ("from torch import float32 as f", True),
        ("y = x.float()", True),
        ("torch.FloatTensor([3])", True),
        ("float(3) + math.sqrt(2)", False),
        ("# torch.float32", False),
        ('"torch.float32"', False),
        ("x.float64", False),
        ("def f(:", False),
        ("x = '''", False),
    ],
)
def test_float32_by_name_is_seen_in_code_only(text: str, answer: bool) -> None:
    """Comments and strings say nothing, and code that does not parse neither."""
    assert names_single_precision(text) is answer


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("x.to(torch.float32)", "x.to(torch.float64)"),
        ("y = x.float() * float(3)", "y = x.double() * float(3)"),
        ("x.type('torch.FloatTensor')", "x.type('torch.DoubleTensor')"),
        ("x.float16, x.float64", "x.float16, x.float64"),
        ("torch.finfo(torch.float32).min + np.float32(1)", "torch.finfo(torch.float32).min + np.float64(1)"),
        ("torch.finfo( torch.float ).max", "torch.finfo( torch.float ).max"),
    ],
)
def test_code_can_be_asked_for_float64_in_place_of_float32(text: str, wide: str) -> None:
    """Everything but limits of numbers, which are fill values."""
    assert in_double_precision(text) == wide


def test_clean_text_is_left_as_it_is() -> None:
    """Letters of all scripts, lines and tabs."""
    text = "Ünïcode 日本語 √d_k\n\tand λ"

    assert clean(text) == text


def test_invisible_characters_are_written_out() -> None:
    """Nothing can hide or turn text round."""
    assert clean("a\u202eb\u200bc\x1b[0m\x00\r") == "a<U+202E>b<U+200B>c<U+001B>[0m<U+0000><U+000D>"


def test_long_text_is_cut_and_says_so() -> None:
    """At the limit, not near it."""
    assert clean("x" * 11, limit=10) == "x" * 10 + "…"
    assert clean("x" * 10, limit=10) == "x" * 10
