"""What the students of the storm hand in: right answers, wrong ones of known score, and what no box should mind."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.box.inline import InlineBox
from grader.examples import read_examples
from grader.exercise.catalog import ROOT, Exercise, read_exercise
from grader.judge.grade import grade
from grader.sandbox.runner import Sandbox

EXERCISES = (
    "softmax",
    "simple_attention",
    "scaled_dot_product_attention",
    "causal_mask",
    "causal_attention",
    "cross_attention",
    "multi_head_attention",
    "multi_head_attention_causal",
)
WRONG = 2  # known wrong answers to each
SEEDS = (1, 2, 3)
BAD = {
    "spinner": "while True:\n    pass\n",
    "spinner in C": "import torch\nx = torch.ones(400, 400)\nwhile True:\n    x = x @ x\n",
    "fork bomb": "import os\nwhile True:\n    os.fork()\n",
    "memory hog": "import torch\nkept = []\nwhile True:\n    kept.append(torch.ones(1 << 20))\n",
    "output flood": "while True:\n    print('x' * 1000)\n",
    "sleeper": "import time\ntime.sleep(600)\n",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A source for an exercise; `score` is what it earns alone, None for a bad one, which earns nothing."""

    exercise: str
    kind: str
    source: str
    score: float | None


def answers_alone() -> list[Answer]:
    """Return right and wrong answers with the score that each gets with the machine for itself."""
    box = Sandbox()
    try:
        return [answer for name in EXERCISES for answer in _of(read_exercise(ROOT / "exercises" / name), box)]
    finally:
        box.close()


def score_with(answer: Answer, seed: int) -> float:
    """Return what an answer of ours earns with the tensors of `seed`: a wrong one may pass a line with some of them."""
    exercise = read_exercise(ROOT / "exercises" / answer.exercise)
    return grade(exercise, answer.source, seed=seed, box=InlineBox()).score


def draw(honest: list[Answer], students: int, bad: int) -> list[Answer]:
    """Return an answer for each student: `bad` bad ones, spread over the others; the same at every call."""
    chance = random.Random(1)
    kinds = list(BAD.items())
    spoilt = [Answer(EXERCISES[0], kind, text, None) for kind, text in (kinds[n % len(kinds)] for n in range(bad))]
    drawn = [honest[n % len(honest)] for n in range(students - bad)] + spoilt
    chance.shuffle(drawn)
    return drawn


def _of(exercise: Exercise, box: Sandbox) -> Iterator[Answer]:
    wrong = [example.path for example in read_examples(exercise.folder) if example.loses is not None]
    chosen = [
        answer for path in wrong[:: max(1, len(wrong) // WRONG)] for answer in _alone(exercise, "wrong", path, box)
    ]
    # As many right ones as wrong ones, as on an evening before the deadline.
    yield from chosen[:WRONG]
    yield from _alone(exercise, "right", exercise.reference_path, box) * len(chosen[:WRONG])


def _alone(exercise: Exercise, kind: str, path: Path, box: Sandbox) -> list[Answer]:
    """Return the answer with its score; nothing for one whose score hangs on the tensors that are drawn for it."""
    source = path.read_text(encoding="utf-8")
    scores = {grade(exercise, source, seed=seed, box=box).score for seed in SEEDS}
    return [Answer(exercise.id, kind, source, score) for score in scores if len(scores) == 1]
