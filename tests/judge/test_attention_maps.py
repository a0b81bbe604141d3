"""The attention map of a module that returns no weights: they are read off an output made for it."""

from __future__ import annotations

import pytest
import torch

from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.grade import grade
from grader.judge.report import Heatmap


@pytest.mark.parametrize("name", ["causal_attention", "multi_head_attention_causal"])
def test_weights_are_read_off_the_output(name: str) -> None:
    """Every row adds up to one, no weight lies in the future, and yours equal the expected ones."""
    exercise = read_exercise(ROOT / "exercises" / name)

    report = grade(exercise, exercise.reference_path.read_bytes(), seed=6, box=InlineBox())

    heatmap = next(found for found in report.figures.heatmaps if found.role == "attention")
    values = torch.tensor(heatmap.values, dtype=torch.float64)
    torch.testing.assert_close(values.sum(dim=1), torch.ones(len(values), dtype=torch.float64), rtol=0, atol=1e-3)
    assert not values.triu(1).any()
    assert heatmap.expected == heatmap.values


def test_a_look_into_the_future_is_marked_in_the_map() -> None:
    """Cells that must hold no weight and do are listed as wrong."""
    exercise = read_exercise(ROOT / "exercises" / "causal_attention")
    source = exercise.reference_path.read_text(encoding="utf-8").replace("diagonal=1", "diagonal=2")

    report = grade(exercise, source, seed=6, box=InlineBox())

    heatmap: Heatmap = next(found for found in report.figures.heatmaps if found.role == "attention")
    ahead = tuple((row, row + 1) for row in range(len(heatmap.values) - 1))
    assert ahead == heatmap.wrong
