"""Nothing of ours that a submission can reach in its process answers an exercise."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from grader.box.drivers import LABS, carried
from grader.box.run import Limits
from grader.exercise.catalog import Catalog, Exercise
from grader.exercise.inputs import Case
from grader.judge.grade import grade
from grader.judge.sheet import draw_up
from grader.sandbox.runner import Sandbox
from tests.sandbox.walk import candidate, drawn, walk

_LIMITS = Limits(cpu_seconds=30, wall_seconds=60)
_LINE = re.compile(r"FITS (\w+) (\S+) (True|False) \[(.+)\]")
_TRIVIAL = 35.0  # points; the gate has three answers made up from nothing for each exercise, none of which earns more
_PARTS = 6
_PLAIN = "softmax"  # its child holds what every child holds, and no more


def first_case(catalog: Catalog, name: str) -> Case:
    """Return the first case of an exercise's own entry point."""
    return next(item.case for item in draw_up(catalog[name], 3).items if not item.case.part)


def right_values(exercise: Exercise, case: Case) -> Tensor:
    """Return the first numbers that the reference gives for the inputs that the walk draws."""
    right = exercise.reference()()[exercise.spec.entry.name](**drawn(case))
    right = right[0] if isinstance(right, tuple | list) else right
    return right.detach().double().flatten()[:6]


def earns(catalog: Catalog, sandbox: Sandbox, child: str, exercises: list[str]) -> list[str]:
    """Return what earns more than a trivial answer, of all that the child of an exercise can reach."""
    cases = {name: first_case(catalog, name) for name in exercises}
    plan = replace(draw_up(catalog[child], 3).plan.training(), forbidden=())  # what traps stop shall be seen as well
    run = sandbox.run(plan, walk(cases), _LIMITS)
    reached = int(run.output.partition("REACHED ")[2].split()[0])
    assert reached > 200, "the walk does not see the grader's own functions any more"
    assert run.output.endswith("DONE\n"), run  # what the walk called may have broken how the child writes
    found: list[str] = []
    right: dict[str, Tensor] = {}
    for name, thing, is_class, values in _LINE.findall(run.output):
        entry = catalog[name].spec.entry
        if (is_class == "True") is not entry.name[:1].isupper():  # the other kind is refused when it is handed in
            continue
        if is_class != "True" and name not in right:
            right[name] = right_values(catalog[name], cases[name])
        told = torch.tensor([float(value) for value in values.split(", ")], dtype=torch.float64)
        if is_class == "True" or torch.isclose(right[name], told, rtol=1e-5, equal_nan=True).all():
            report = grade(catalog[name], candidate(entry.name, thing), seed=3, box=sandbox)
            found += [f"{thing} earns {report.score:g} in {name}"] * (report.score > _TRIVIAL)
    return found


@pytest.mark.parametrize("part", range(_PARTS))
def test_nothing_that_every_child_holds_answers_an_exercise(catalog: Catalog, sandbox: Sandbox, part: int) -> None:
    """All that is ours in a plain child is tried on the first call of every exercise.

    A few exercises a child: what is called leaves its mark, and in the end may break the child's own writing.
    """
    functions = [name for name in catalog if not catalog[name].spec.entry.kind.brings_a_model]
    ours = [name for name in functions if name != "gradient_descent"]

    assert earns(catalog, sandbox, _PLAIN, ours[part::_PARTS]) == []


@pytest.mark.parametrize("name", ["kv_cache", "copy_task", "compare_variants"])
def test_nothing_that_travels_with_a_job_answers_its_exercise(catalog: Catalog, sandbox: Sandbox, name: str) -> None:
    """What a job brings along may answer other exercises, but not its own."""
    assert earns(catalog, sandbox, name, [name]) == []


def test_a_job_carries_its_own_lab_and_no_other(catalog: Catalog) -> None:
    """With what labs share before it, where it imports that; ordinary exercises carry nothing."""
    carries = {name: tuple(carried(draw_up(catalog[name], 3).plan.training())) for name in catalog}

    assert {name: modules for name, modules in carries.items() if modules} == {
        "weight_transfer": ("grader.box.snapshot", f"{LABS}.weight_transfer.lab"),
        "kv_cache": (f"{LABS}.kv_cache.lab",),
        "copy_task": ("grader.box.train", f"{LABS}.copy_task.lab"),
        "attention_patterns": ("grader.box.snapshot", f"{LABS}.attention_patterns.lab"),
        "compare_variants": ("grader.box.train", f"{LABS}.compare_variants.lab"),
    }


def test_a_lab_imports_the_box_alone(catalog: Catalog) -> None:
    """What else it imported would not be in the process that runs submissions, or would know an answer there."""
    for name in catalog:
        source = "\n".join(carried(draw_up(catalog[name], 3).plan.training()).values())
        ours = re.findall(r"^ *(?:from|import) (grader\S*)", source, re.MULTILINE)
        assert [one for one in ours if not one.startswith(("grader.box.", "grader.errors"))] == [], name
