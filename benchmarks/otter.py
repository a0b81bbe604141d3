"""The same cases for Otter-Grader: an autograder, a notebook to grade, and an environment that is thrown away.

What Otter is asked is less than what we ask: of each case one output and its gradients, against numbers that lie ready
in a file. No reference runs, nothing is perturbed or called again, and no mistake is named.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from grader.box.binding import bind
from grader.box.observe import default_dtype
from grader.box.plan import FLOATS, Build
from grader.exercise.catalog import Exercise
from grader.exercise.inputs import Case

PACKAGES = ("otter-grader==7.0.0", "ipykernel==7.4.0")

_TEST = """
OK_FORMAT = False
name = "{name}"
points = 1

import torch
from otter.test_files import test_case


@test_case()
def holds({entry}):
    case = torch.load("cases.pt", weights_only=True)["{name}"]
    torch.set_default_dtype(getattr(torch, case["dtype"]))
    if case["refused"]:
        try:
            {entry}(**case["construct"])
        except ValueError:
            return
        raise AssertionError("this construction should have been refused")
    module = {entry}(**case["construct"])
    module.load_state_dict(case["weights"])
    module.eval()
    x = case["x"].clone().requires_grad_()
    output = module(x)
    assert output.shape == case["output"].shape, "wrong shape"
    torch.testing.assert_close(output, case["output"], rtol=0, atol=case["allowed"])
    output.backward(case["grad_outputs"])
    torch.testing.assert_close(x.grad, case["input_gradient"], rtol=0, atol=100 * case["allowed"])
    for name, parameter in module.named_parameters():
        expected = case["gradients"][name]
        torch.testing.assert_close(parameter.grad, expected, rtol=0, atol=100 * case["allowed"])
"""


def install(folder: Path) -> Path:
    """Make an environment with Otter in `folder`, which sees this one's torch; return its `otter`."""
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "pip", "install", "-q", *PACKAGES], check=True, stderr=subprocess.DEVNULL)
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    (packages / "torch_of_the_project.pth").write_text(str(Path(torch.__file__).parents[1]) + "\n")
    return folder / "bin" / "otter"


def prepare(otter: Path, folder: Path, exercise: Exercise, answer: str) -> list[str]:
    """Write the autograder and the notebook into `folder`; return the command that grades it.

    Raises:
        CalledProcessError: Otter takes no such autograder.
    """
    tests = folder / "tests"
    tests.mkdir(parents=True)
    cases = {name: _facts(exercise, case) for name, case in exercise.cases(seed=1).items()}
    torch.save(cases, folder / "cases.pt")
    for name in cases:
        (tests / f"{name}.py").write_text(_TEST.format(name=name, entry=exercise.spec.entry.name))
    (folder / "otter_config.json").write_text(json.dumps({"show_stdout": False}))
    subprocess.run(
        [otter, "generate", "-t", tests, "-o", folder / "autograder.zip", folder / "cases.pt"],
        cwd=folder, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (folder / "answer.ipynb").write_text(json.dumps(_notebook(answer)))
    return [str(otter), "run", "--no-logo", "-a", "autograder.zip", "-o", ".", "answer.ipynb"]


def grade(command: list[str], folder: Path, cases: int) -> None:
    """Grade once.

    Raises:
        SystemExit: the answer did not pass all of Otter's tests.
    """
    (folder / "results.json").unlink(missing_ok=True)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    results = folder / "results.json"
    found = json.loads(results.read_text())["tests"] if results.exists() else []
    passed = sum(test.get("score") == 1 for test in found)
    if passed < cases:
        raise SystemExit(f"Otter gave {passed} of {cases} cases: {done.stderr[-1000:]} {str(found)[:1500]}")


def _facts(exercise: Exercise, case: Case) -> dict[str, Any]:
    """Return what a test of one case needs: the module's weights and input, and what must come out."""
    build = case.build
    assert build is not None, "the benchmark's exercise is a module"
    if case.name in _refused(exercise):
        return {"dtype": case.dtype, "construct": dict(build.arguments), "refused": True}
    x, grad_outputs = case.arguments["x"], case.grad_outputs[0]
    assert isinstance(x, Tensor)
    assert grad_outputs is not None
    dtype = FLOATS[case.dtype]
    with default_dtype(case.dtype):
        module = _module(exercise, build)
        leaf = x.to(dtype, copy=True).requires_grad_()
        output = module.eval()(leaf)
        output.backward(grad_outputs.to(dtype))
    return {
        "dtype": case.dtype,
        "construct": dict(build.arguments),
        "refused": False,
        "weights": {name: value.detach().clone() for name, value in module.state_dict().items()},
        "x": x.to(dtype),
        "grad_outputs": grad_outputs.to(dtype),
        "output": output.detach(),
        "input_gradient": leaf.grad,
        "gradients": {name: parameter.grad for name, parameter in module.named_parameters()},
        "allowed": 1e-9 if case.dtype == "float64" else 1e-4,
    }


def _refused(exercise: Exercise) -> set[str]:
    """Return the cases whose construction must be refused."""
    return {name for check in exercise.spec.checks if check.check == "refusal" for name in check.cases}


def _module(exercise: Exercise, build: Build) -> nn.Module:
    module = exercise.reference()()[exercise.spec.entry.name](**build.arguments)
    assert isinstance(module, nn.Module)
    bind(module, build.weights)
    return module


def _notebook(answer: str) -> dict[str, Any]:
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "id": "answer",
        "metadata": {},
        "outputs": [],
        "source": answer,
    }
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    info = {"name": "python", "version": sys.version.split()[0]}
    return {
        "cells": [cell],
        "metadata": {"kernelspec": kernel, "language_info": info},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
