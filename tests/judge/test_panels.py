"""Panels of other devices, tried with the CPU in lower precision in the place of another device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.text import Text

from grader.box.cancel import CancelToken
from grader.box.inline import InlineBox
from grader.box.observations import Observations
from grader.box.plan import Plan
from grader.box.run import Ending, Limits, Progress, Run
from grader.cli.grade import to_line
from grader.cli.text import body
from grader.errors import AuthorError, GraderFault
from grader.examples import read_examples
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.exercise.spec import read_spec
from grader.judge.completion import PANEL_DTYPE, DevicePlace
from grader.judge.grade import grade
from grader.judge.report import Report
from grader.pages.render import report_view

_EXERCISE = read_exercise(ROOT / "exercises" / "causal_attention")
_ANSWER = _EXERCISE.reference_path.read_text(encoding="utf-8")
_BOX = InlineBox()


class _Elsewhere:
    """A device that is not there: what its box was asked to run, it runs on the CPU, or fails as told."""

    name = "somewhere else"

    def __init__(self, fault: Exception | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self._fault = fault

    def run(
        self,
        plan: Plan,
        source: str,
        limits: Limits,
        progress: Progress | None = None,
        *,
        cancel: CancelToken | None = None,
    ) -> Run:
        """Run `plan` where it can be run, and note what was asked."""
        self.asked.append((plan.device, "the reference" if limits.wall_seconds > 30 else "the submission"))
        if self._fault is not None:
            raise self._fault
        return _BOX.run(plan, source, limits, progress, cancel=cancel)


def _graded(source: str, *places: DevicePlace) -> Report:
    return grade(_EXERCISE, source, seed=5, box=_BOX, places=places)


def _single(box: object = _BOX, *, apart: bool = False) -> DevicePlace:
    return DevicePlace("cpu", PANEL_DTYPE, box, apart=apart)  # type: ignore[arg-type]  # the tests' own boxes


def test_the_verdict_stands_beside_every_other_place() -> None:
    """The first panel is the verdict's own, in float64; a right answer is within its bounds everywhere."""
    report = _graded(_ANSWER, _single(), DevicePlace("cpu", "bfloat16", _BOX))

    assert [(panel.dtype, panel.within) for panel in report.panels] == [
        ("float64", True), ("float32", True), ("bfloat16", True),
    ]  # fmt: skip
    names = [reading.name for reading in report.panels[0].readings]
    assert names == [reading.name for reading in report.panels[1].readings]
    assert {"context", "gradient of x", "gradient of W_query"} <= set(names)


def test_a_bound_is_the_references_own_error_and_some_room() -> None:
    """It grows as the precision shrinks, and so do errors; neither is there by default."""
    exact, single, half = _graded(_ANSWER, _single(), DevicePlace("cpu", "bfloat16", _BOX)).panels
    bounds = [[reading.bound for reading in panel.readings] for panel in (exact, single, half)]

    assert all(one < two < three for one, two, three in zip(*bounds, strict=True))
    assert max(reading.error or 0 for reading in exact.readings) < 1e-12
    assert max(reading.error or 0 for reading in single.readings) > 1e-9


def test_nobody_gets_panels_who_did_not_ask() -> None:
    """Without a place there is one run, and the report says nothing of devices."""
    assert _graded(_ANSWER).panels == ()


def test_what_strays_in_one_place_only_costs_no_points() -> None:
    """An answer that is exact in float64 and careless in float32 has full marks, and the panel shows the tensor."""
    careless = f"{_ANSWER}\n_forward = CausalAttention.forward\n" + (
        "def _careless(self, x):\n"
        "    out = _forward(self, x)\n"
        "    return out * 1.001 if x.dtype == torch.float32 and x.shape[1] == 6 else out\n"
        "CausalAttention.forward = _careless\n"
    )

    report = _graded(careless, _single())

    assert report.panels[0].within
    assert not report.panels[1].within
    (stray,) = [reading for reading in report.panels[1].readings if reading.name == "context"]
    assert stray.error is not None
    assert not stray.within
    assert 5e-4 < stray.error < 2e-3


def test_a_failure_in_one_place_is_told_there() -> None:
    """A tensor made on the wrong device, as torch words it: the panel says it, with what to do."""
    source = _ANSWER + (
        "\n_forward = CausalAttention.forward\n"
        "def _elsewhere(self, x):\n"
        "    if x.dtype == torch.float32:\n"
        "        raise RuntimeError('Expected all tensors to be on the same device, but found cuda:0 and cpu!')\n"
        "    return _forward(self, x)\n"
        "CausalAttention.forward = _elsewhere\n"
    )

    panel = _graded(source, _single()).panels[1]

    assert not panel.within
    assert "Expected all tensors to be on the same device" in panel.note
    assert "device=x.device" in panel.note
    assert {reading.error for reading in panel.readings} == {None}


def test_a_reference_that_keeps_off_this_process_runs_in_the_box() -> None:
    """Both go to the device's box, each in a run of its own, and the panel is the same as from here."""
    elsewhere = _Elsewhere()

    there, here = (_graded(_ANSWER, place).panels[1] for place in (_single(elsewhere, apart=True), _single()))

    assert sorted(what for _, what in elsewhere.asked) == ["the reference", "the submission"]
    assert there.readings == here.readings
    assert there.box == "somewhere else"


def test_a_device_that_fails_us_costs_its_panels_and_nothing_else() -> None:
    """The verdict stands, and the report says that something of ours is missing."""
    report = _graded(_ANSWER, _single(_Elsewhere(GraderFault("the driver is gone"))))

    assert (report.score, report.panels) == (100.0, ())
    assert any("panels of other devices are missing" in line for line in report.advice)


def test_a_run_that_ended_early_there_is_told() -> None:
    """Time, memory and crashes of the other place are no verdict."""

    class Slow(_Elsewhere):
        def run(self, plan: Plan, source: str, *_: object, **__: object) -> Run:
            return Run(Observations(), Ending.TIMEOUT, "more than 8 s")

    panel = _graded(_ANSWER, _single(Slow())).panels[1]

    assert "did not finish (timeout, more than 8 s)" in panel.note


def test_every_face_shows_the_panels() -> None:
    """JSON, the terminal and the page, each within its own escapes; a report comes back from the store as it was."""
    report = _graded(_ANSWER, _single())

    said = json.loads(to_line(Path("a.py"), report))
    lines = "\n".join(line.plain for line in body(report) if isinstance(line, Text))
    view = report_view(Report.from_json(report.to_json()))

    assert [panel["within"] for panel in said["panels"]] == [True, True]
    assert "cpu, float32" in lines
    assert "gradient of W_query" in lines
    assert [panel["dtype"] for panel in view["panels"]] == ["float64", "float32"]
    assert view["panels"][1]["rows"][0]["name"] == "context"


def test_right_answers_are_within_bounds_in_single_precision() -> None:
    """Every example that earns full marks in one exercise, in both panels: what is asked of a GPU too."""
    right = [example.path for example in read_examples(_EXERCISE.folder) if example.loses is None]
    reports = [_graded(path.read_text(encoding="utf-8"), _single()) for path in right]

    assert [
        path.stem for path, report in zip(right, reports, strict=True) if not all(p.within for p in report.panels)
    ] == []
    assert len(reports) > 5


@pytest.mark.parametrize("devices", ['["cuda"]', '["cpu", "cpu"]', '["cpu", "tpu"]', "[]"])
def test_devices_that_make_no_sense_are_refused(devices: str, tmp_path: Path) -> None:
    """The verdict needs the CPU, each device is named once, and there are two kinds."""
    text = (ROOT / "exercises" / "softmax" / "exercise.toml").read_text(encoding="utf-8")
    file = tmp_path / "exercise.toml"
    file.write_text(f"devices = {devices}\n{text}", encoding="utf-8")

    with pytest.raises(AuthorError, match="devices"):
        read_spec(file)


def test_exercises_are_for_the_cpu_unless_they_say_so(catalog: Catalog) -> None:
    """Some say so."""
    assert catalog["softmax"].spec.devices == ("cpu",)
    assert sum("cuda" in exercise.spec.devices for exercise in catalog.values()) > 10
