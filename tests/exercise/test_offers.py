"""Shared mistakes are offered to every exercise that has the step; what is declined has a reason that holds."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path
from types import ModuleType

import pytest
import torch

from grader.box.inline import observe_all
from grader.box.observations import Observations
from grader.box.plan import Plan
from grader.errors import AuthorError
from grader.exercise.catalog import ROOT, Catalog, Exercise
from grader.exercise.families import scores
from grader.exercise.mistakes import Mistake, load, take
from grader.exercise.offers import fitting, offered, own_of, read_declined, shared
from grader.judge.sheet import draw_up

_DECLINED = read_declined(ROOT / "exercises" / "declined.toml")
_SAME = re.compile(r"it gives the same as `(\w+)`")


def _reference(exercise: Exercise) -> ModuleType:
    return load(compile(exercise.reference_path.read_text(encoding="utf-8"), "reference", "exec", dont_inherit=True))


def _numbers(found: Observations) -> dict[str, torch.Tensor]:
    """Return all outputs of all calls that came to their end."""
    return {
        f"{name} {key}": seen.tensor
        for name, call in found.calls.items()
        for key, seen in call.slots.items()
        if seen.tensor is not None
    }


def _alike(one: Observations, other: Observations) -> bool:
    first, second = _numbers(one), _numbers(other)
    return first.keys() == second.keys() and all(
        tensor.shape == second[name].shape and torch.allclose(tensor, second[name], atol=1e-9, equal_nan=True)
        for name, tensor in first.items()
    )


def _plan(exercise: Exercise) -> Plan:
    """Return the calls of an exercise in evaluation mode, without backward passes."""
    return draw_up(exercise, 3).plan.untrained().in_double()


def test_every_row_declines_what_fits_and_is_not_there_already(catalog: Catalog) -> None:
    """A row that the exercise no longer needs is to be removed."""
    for name, reasons in _DECLINED.items():
        told = {(wrong.title, wrong.message) for wrong in catalog[name].mistakes if not wrong.offered}
        fits = fitting(_reference(catalog[name]))
        for id, reason in reasons.items():
            assert id in fits, f"{name}: {id} replaces no step of the reference"
            assert (shared()[id].title, shared()[id].message) not in told, f"{name}: {id} is one of its own"
            assert re.fullmatch(r"[a-z].*[^.]", reason), f"{name}: {id}: {reason}"


def test_what_is_declined_as_the_same_is_the_same(catalog: Catalog) -> None:
    """It gives the same numbers as a mistake that the exercise has, in every call."""
    for name, reasons in _DECLINED.items():
        known = {wrong.name: wrong for wrong in catalog[name].mistakes}
        fits = fitting(_reference(catalog[name]))
        plan, seen = _plan(catalog[name]), {}

        def observed(
            wrong: Mistake, plan: Plan = plan, name: str = name, seen: dict[str, Observations] = seen
        ) -> Observations:
            return seen.setdefault(wrong.name, observe_all(plan, catalog[name].reference(wrong)))

        for id, reason in reasons.items():
            if same := _SAME.search(reason):
                assert _alike(observed(fits[id]), observed(known[same[1]])), f"{name}: {id} is not `{same[1]}`"


def test_an_exercise_has_every_shared_mistake_or_a_reason(catalog: Catalog) -> None:
    """The table of mistakes and exercises has no blank without a reason."""
    for name, exercise in catalog.items():
        told = {(wrong.title, wrong.message) for wrong in exercise.mistakes}
        missing = {
            id for id, wrong in fitting(_reference(exercise)).items() if (wrong.title, wrong.message) not in told
        }
        assert missing <= _DECLINED.get(name, {}).keys(), name


def test_every_exercise_with_offers_has_a_table(catalog: Catalog) -> None:
    """Without one the gate would not prove them."""
    offering = {name for name, exercise in catalog.items() if any(wrong.offered for wrong in exercise.mistakes)}
    assert offering - _DECLINED.keys() == set()


def test_the_page_for_authors_has_every_step_that_brings_mistakes() -> None:
    """Each step with its parameters and the families that hold its mistakes, in one table, and no other."""
    page = (ROOT / "docs" / "authors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+\([\w, ]+\))` \| .* \| ((?:`\w+`(?:, )?)+) \|$", page, re.MULTILINE)
    families: dict[str, set[str]] = {}
    for id, wrong in shared().items():
        step = f"{wrong.replaces}({', '.join(signature(wrong.step).parameters)})"
        families.setdefault(step, set()).add(id.partition(".")[0])

    assert {step: set(re.findall(r"\w+", held)) for step, held in rows} == families
    assert len(rows) == len(families)


def test_names_are_unique_within_an_exercise(catalog: Catalog) -> None:
    """A diagnosis is kept by its name."""
    for exercise in catalog.values():
        names = [wrong.name for wrong in exercise.mistakes]
        assert len(set(names)) == len(names), exercise.id


def test_a_name_that_is_taken_gets_its_family_in_front() -> None:
    """Two families may call a mistake alike; a step with other parameters is offered nothing."""
    module = ModuleType("small")
    exec("def scale(scores, d_k): ...\ndef normalise(x, dim): ...", module.__dict__)
    own = Mistake("no_scaling", "scale", shared()["scores.no_scaling"].dimension, print, "Another title.", "…")

    found = {
        wrong.name: wrong.replaces for wrong in offered(fitting(module), (own,), {"scores.multiplied_by_the_root"})
    }

    assert set(found.values()) == {"scale"}
    assert "scores_no_scaling" in found
    assert "multiplied_by_the_root" not in found


def _small() -> tuple[ModuleType, dict[str, Mistake]]:
    """Return an empty `mistakes.py`, and what fits a reference that only scales."""
    reference = ModuleType("small")
    exec("def scale(scores, d_k): ...", reference.__dict__)
    return ModuleType("mistakes"), fitting(reference)


def test_a_family_is_taken_in_one_line() -> None:
    """What is common, fits and is not declined is the exercise's own, but for what is excepted; all else is offered."""
    module, fits = _small()
    common = {id for id, wrong in fits.items() if wrong.common}
    rare = min(fits.keys() - common).removeprefix("scores.")
    module.from_scores = take(scores, except_=("no_scaling",), also=(rare,))  # type: ignore[attr-defined]  # made here
    declined = {"scores.multiplied_by_the_root"}

    own = tuple(own_of(module, fits, declined))
    rest = offered(fits, own, declined)

    assert {f"scores.{wrong.name}" for wrong in own} == common - declined - {"scores.no_scaling"} | {f"scores.{rare}"}
    assert {f"scores.{wrong.name}" for wrong in rest} == fits.keys() - declined - {f"scores.{w.name}" for w in own}
    assert {wrong.offered for wrong in own} == {False}


def test_what_is_taken_stands_where_its_line_stands() -> None:
    """Between the exercise's own, in the family's order; what has another name here is not taken twice."""
    module, fits = _small()
    module.first = scores.multiplied_by_the_root  # type: ignore[attr-defined]  # a module made here
    module.from_scores = take(scores)  # type: ignore[attr-defined]  # likewise
    module.last = scores.scaled_by_the_width_itself  # type: ignore[attr-defined]  # likewise

    names = [wrong.name for wrong in own_of(module, fits, ())]
    taken = [wrong.name for wrong in fits.values() if wrong.common]

    assert names[0] == "first"
    assert names[-1] == "last"
    assert names[1:-1] == [n for n in taken if n not in ("multiplied_by_the_root", "scaled_by_the_width_itself")]


@pytest.mark.parametrize("option", ["except_", "also"])
@pytest.mark.parametrize("name", ["no_scalling", "queries_meet_queries", "declined", "already"])
def test_a_name_without_effect_is_told(option: str, name: str) -> None:
    """A misspelt name, one that does not fit, one that is declined, and what the other option is for."""
    module, fits = _small()
    common, rare = (next(w.name for w in fits.values() if w.common is one) for one in (True, False))
    wanted, other = (common, rare) if option == "except_" else (rare, common)
    given = {"declined": wanted, "already": other}.get(name, name)
    module.from_scores = take(scores, **{option: (given,)})  # type: ignore[attr-defined]  # a module made here

    with pytest.raises(AuthorError, match=rf"`{option}` of `take\(scores, …\)` names {given}, which changes nothing"):
        tuple(own_of(module, fits, {f"scores.{given}"} if name == "declined" else ()))


@pytest.mark.parametrize(
    "text", ["[softmax", "softmax = 1", '[softmax]\n"scores.nothing" = "x"', '[a]\n"scores.no_scaling" = ""']
)
def test_a_table_that_cannot_be_read_says_so(tmp_path: Path, text: str) -> None:
    """The author is told the file and what is expected."""
    path = tmp_path / "declined.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(AuthorError, match=r"declined\.toml"):
        read_declined(path)


def test_without_a_table_nothing_is_declined(tmp_path: Path) -> None:
    """An exercise in a folder of its own has all that fits."""
    assert read_declined(tmp_path / "declined.toml") == {}
