"""A small storm: a class hands in through the page's own interface, and nobody is wronged."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.storm import problems, rage
from benchmarks.storm_answers import BAD, Answer
from benchmarks.storm_site import read_stored, served
from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade

STUDENTS = 20
NOTHING = "def softmax(x, dim=-1):\n    return x * 0\n"
HOSTILE = ("fork bomb", "memory hog", "output flood", "spinner")


def test_everybody_gets_their_verdict_beside_bombs_and_a_spinner(tmp_path: Path) -> None:
    """All are stored, graded once, and right where they are honest; the page answered all the while."""
    exercise = read_exercise(ROOT / "exercises" / "softmax")
    texts = {"right": exercise.reference_path.read_text(encoding="utf-8"), "wrong": NOTHING}
    scores = {kind: grade(exercise, text, seed=1, box=InlineBox()).score for kind, text in texts.items()}
    honest = [Answer(exercise.id, kind, text, scores[kind]) for kind, text in texts.items()]
    bad = [Answer("softmax", kind, BAD[kind], None) for kind in HOSTILE]
    drawn = [*bad, *(honest[n % 2] for n in range(STUDENTS - len(bad)))]
    with served(tmp_path, STUDENTS + 1) as site:
        result = asyncio.run(rage(site, drawn, over=1.0, patience=600.0, calm=0.0))

    assert scores["right"] > scores["wrong"]
    assert problems(result, tmp_path) == []
    assert len(read_stored(tmp_path)) == STUDENTS
    assert [seen.trouble for seen in result.seen if seen.trouble] == []
    assert result.during
