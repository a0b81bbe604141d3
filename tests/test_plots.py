"""Pictures as files: which are written, under which names, and that they show something."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from PIL import Image

from grader.cli.main import main
from grader.cli.plots import save
from grader.exercise.catalog import ROOT
from grader.judge.report import Bar, Curve, Figures, Heatmap, Pane, Series

EXAMPLES = ROOT / "exercises" / "causal_attention" / "examples"
WRONG = EXAMPLES / "wrong_diagonal_two.py"
CELLS = ((1.0, 0.0), (math.nan, -0.5))


def heatmap(role: str, *panes: Pane) -> Heatmap:
    """Return a small map."""
    return Heatmap(
        role, "a $title$ of `it`", "query", "key", CELLS, ((1.0, 0.0), (0.5, 0.5)), ((1, 0),), "why", "head 0", panes
    )


def colours(path: Path) -> int:
    """Return how many different colours a picture has."""
    with Image.open(path) as picture:
        return len(picture.convert("RGBA").getcolors(picture.width * picture.height))


@pytest.mark.parametrize("role", ["attention", "influence", "mask", "encoding", "output"])
def test_every_kind_of_map_is_drawn(role: str, tmp_path: Path) -> None:
    """With several heads, signs, and numbers that are none."""
    (path,) = save(Figures(heatmaps=(heatmap(role, Pane("head 1", CELLS, CELLS)),)), tmp_path, "mine")

    assert path == tmp_path / f"mine-{role}.png"
    assert colours(path) > 50


def test_a_mask_of_infinities_is_drawn(tmp_path: Path) -> None:
    """-inf is hatched; nothing is divided by it."""
    cells = ((0.0, -math.inf), (0.0, 0.0))

    (path,) = save(Figures(heatmaps=(Heatmap("mask", "mask", "query", "key", cells, cells),)), tmp_path, "mine")

    assert colours(path) > 20


def test_curves_and_gradients_are_drawn(tmp_path: Path) -> None:
    """A curve over decades, one with a level and without points, and bars of which one is missing."""
    decades = Curve("Memory", "time", "elements", (Series("yours", (1.0, 2.0), (1.0, 1e6)),), note="note")
    empty = Curve("Loss", "step", "loss", (Series("yours", (), ()),), bound=0.1)
    bars = (Bar("x", None, 0.5), Bar("W_key", math.nan, 0.2), Bar("W_value", 0.1, 0.1))

    written = save(Figures(curves=(decades, empty), gradients=bars), tmp_path, "mine")

    assert [path.name for path in written] == ["mine-memory.png", "mine-loss.png", "mine-gradient-flow.png"]
    assert min(colours(path) for path in written) > 20


def test_two_pictures_of_a_kind_do_not_overwrite_each_other(tmp_path: Path) -> None:
    """The second one has a number, as has one called as another file's; a second run replaces both."""
    two = Figures(heatmaps=(heatmap("attention"), heatmap("attention")))

    first, second = tmp_path / "a-attention.png", tmp_path / "a-attention-2.png"
    assert save(two, tmp_path, "a") == {first: False, second: False}
    assert save(two, tmp_path, "a") == {first: True, second: True}
    assert save(Figures(heatmaps=(heatmap("attention"),)), tmp_path, "a", {first}) == {second: True}
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.usefixtures("warm")
def test_each_file_of_a_call_has_pictures_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of one name in several folders, and one whose name is that of a folder and a file together."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    files = [Path(name) for name in ("ada/answer.py", "eve/answer.py", "eve-answer.py", "../one/eve/answer.py", "b.py")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(WRONG.read_bytes())

    assert main(["grade", "causal_attention", *map(str, files), "--seed", "0", "--plots", "pictures"]) == 0

    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("wrote ")]
    names = ("here-ada-answer", "here-eve-answer", "eve-answer", "one-eve-answer", "b")
    wanted = [f"pictures/{name}-{what}.png" for name in names for what in ("attention", "influence", "gradient-flow")]
    assert said == [f"wrote {path}" for path in wanted]
    assert sorted(wanted) == sorted(str(path) for path in Path("pictures").iterdir())


@pytest.mark.usefixtures("warm")
def test_json_keeps_standard_output_for_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --json, the files are named on standard error."""
    main(["grade", "causal_attention", str(WRONG), "--json", "--seed", "0", "--plots", str(tmp_path)])

    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1
    assert said.err.count("wrote ") == 3


@pytest.mark.usefixtures("warm")
def test_a_folder_that_cannot_be_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in its place is a wrong use, and no traceback."""
    place = tmp_path / "file"
    place.write_text("", encoding="utf-8")

    code = main(["grade", "causal_attention", str(WRONG), "--seed", "0", "--plots", str(place)])

    assert code == 2
    assert "no pictures can be written" in capsys.readouterr().err


@pytest.mark.parametrize("value", [1.7e308, -1.7e308, 5e-324, math.inf, math.nan])
def test_every_number_can_be_drawn(value: float, tmp_path: Path) -> None:
    """Weights, losses and gradients at the ends of float64; matplotlib has no limits for an axis there."""
    cells = ((value, 0.5), (-value, value))
    maps = tuple(Heatmap(role, "map", "query", "key", cells, CELLS) for role in ("attention", "output"))
    curves = (Curve("Loss", "step", "loss", (Series("yours", (0.0, 1.0), (value, 0.5)),)),)
    bars = (Bar("x", value, 0.5), Bar("W_key", 0.5, value))

    written = save(Figures(heatmaps=maps, curves=curves, gradients=bars), tmp_path, "mine")

    assert len(written) == 4
