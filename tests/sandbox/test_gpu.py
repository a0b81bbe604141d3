"""Workers around a real driver; everything but the driver is tried in `test_gpu_workers.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
import torch

from grader.box.run import Ending, Limits
from grader.exercise.catalog import ROOT, read_exercise
from grader.judge.completion import PANEL_DTYPE, DevicePlace
from grader.judge.grade import grade
from grader.sandbox.gpu import there_is_a_gpu
from grader.sandbox.gpu.box import DeviceBox
from grader.sandbox.plain import PlainBox
from tests.sandbox.errand import HONEST, plan, verdict
from tests.sandbox.test_gpu_workers import ATTEMPTS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not there_is_a_gpu(), reason="needs a GPU that torch can use"),
]
EXERCISE = read_exercise(ROOT / "exercises" / "causal_attention")
LIMITS = Limits(cpu_seconds=20, wall_seconds=20)


@pytest.fixture(scope="module")
def gpu() -> Iterator[DeviceBox]:
    """Yield the GPU's box with two workers."""
    with DeviceBox("cuda", workers=2) as box:
        yield box


def test_asking_for_a_gpu_does_not_wake_it() -> None:
    """This process holds no context after it was asked."""
    assert there_is_a_gpu()
    assert not torch.cuda.is_initialized()


def test_a_worker_computes_on_the_gpu(gpu: DeviceBox) -> None:
    """The answer is right, and it was the GPU that gave it."""
    source = HONEST.replace("return", "print(q.device)\n    return")

    run = gpu.run(replace(plan(), device="cuda"), source, LIMITS)

    assert (verdict(run), run.output) == ("right", "cuda:0\n")


def test_a_worker_keeps_the_drivers_files_and_threads(gpu: DeviceBox) -> None:
    """They are there before the walls go up, and nothing else is."""
    with closing(gpu.pool.take()) as worker:
        assert worker.facts["devices"] > 0
        assert worker.facts["threads"] > 1


def test_a_worker_is_closed_in_around_its_driver(gpu: DeviceBox) -> None:
    """What fails without a driver fails beside one."""
    run = gpu.run(replace(plan(), device="cuda"), ATTEMPTS, LIMITS)

    assert verdict(run) == "right"
    assert json.loads(run.output)[0] == []


def test_more_device_memory_than_was_set_aside_is_refused(gpu: DeviceBox) -> None:
    """It is an error of the student's code, which goes on; the next one is right."""
    source = "import torch\nkept = []\nwhile True: kept.append(torch.ones(1 << 26, device='cuda'))"

    run = gpu.run(replace(plan(), device="cuda"), source, LIMITS)

    assert verdict(run) == "error OutOfMemoryError"
    assert verdict(gpu.run(replace(plan(), device="cuda"), HONEST, LIMITS)) == "right"


def test_a_kernel_without_end_ends_at_the_wall_clock(gpu: DeviceBox) -> None:
    """The process is killed, and the GPU is free for the next one."""
    source = "import torch\nx = torch.ones(4096, 4096, device='cuda')\nwhile True: x = x @ x"

    run = gpu.run(replace(plan(), device="cuda"), source, replace(LIMITS, wall_seconds=2))

    assert run.ending is Ending.TIMEOUT
    assert verdict(gpu.run(replace(plan(), device="cuda"), HONEST, LIMITS)) == "right"


@pytest.mark.parametrize("behind_walls", [True, False], ids=["worker", "desk"])
def test_the_reference_is_within_its_bounds_on_a_gpu(behind_walls: bool, gpu: DeviceBox) -> None:
    """Full marks on the CPU, and panels for both; in a worker, and in the plain subprocess of a desk."""
    places = (
        DevicePlace("cpu", PANEL_DTYPE, PlainBox()),
        DevicePlace("cuda", PANEL_DTYPE, gpu if behind_walls else PlainBox(), apart=True),
    )

    report = grade(EXERCISE, EXERCISE.reference_path.read_bytes(), seed=0, box=PlainBox(), places=places)

    assert (report.score, report.device) == (100, "cuda")
    assert [panel.device for panel in report.panels if panel.within] == ["cpu", "cpu", "cuda"]


def test_a_mask_on_the_wrong_device_is_told_with_its_remedy(gpu: DeviceBox) -> None:
    """Full marks on the CPU, and a panel that names the line to change."""
    source = EXERCISE.reference_path.read_text(encoding="utf-8") + (
        "\n_forward = CausalAttention.forward\n"
        "def _careless(self, x):\n"
        "    return _forward(self, x) + torch.zeros(1, 1, 1)[0].expand(x.shape[1], -1) * 0\n"
        "CausalAttention.forward = _careless\n"
    )
    places = (DevicePlace("cuda", PANEL_DTYPE, gpu, apart=True),)

    report = grade(EXERCISE, source, seed=0, box=PlainBox(), places=places)

    assert report.score == 100
    assert "device=x.device" in report.panels[-1].note
