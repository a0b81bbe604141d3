"""The gate: every exercise of the catalogue passes, and a broken one is told what is wrong with it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.checks.registry import _CHECKS, checks
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.gate import check_exercise
from grader.gate.prove import Ratio, Trial
from grader.judge.report import Status

_ID = "self_attention_linear"  # small and quick; any other would do
_REFERENCE = (ROOT / "reference" / f"{_ID}.py").read_text(encoding="utf-8")
Change = Callable[[str], str]
Fault = tuple[str, Change]  # a file, and what is done to it
Broken = Callable[[str, Change], tuple[str, ...]]
_EXERCISES = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/exercise.toml"))


@pytest.mark.filterwarnings("default")  # students' code may be warned, of a dropout between layers of one, say
@pytest.mark.parametrize("name", _EXERCISES)
def test_an_exercise_passes_the_gate(name: str, catalog: Catalog, trial_of: Callable[[str], Trial]) -> None:
    """Its reference, starter, mistakes and examples do what they must; no example is worth a look, or ends oddly."""
    trial = trial_of(name)
    outcome = check_exercise(catalog[name], examples=trial, rounds=0)
    reports = {example.path.name: trial.judge(example) for example in trial.examples}

    assert outcome.complaints == ()
    assert outcome.caught == outcome.named == Ratio(outcome.caught.all, outcome.caught.all)
    assert outcome.caught.all >= 8
    assert outcome.accepted.all >= 6
    assert outcome.refused.all >= 8
    ends = (Status.GRADED, Status.UNGRADABLE, Status.REJECTED)
    assert {path: one for path, one in reports.items() if one.clues or one.incident or one.status not in ends} == {}


@pytest.mark.parametrize("name", _EXERCISES)
def test_an_exercise_passes_the_gate_but_for_mistakes_and_examples(name: str, catalog: Catalog) -> None:
    """Its reference, starter, texts, draws and answers made from nothing; `test_examples` has some of the examples."""
    outcome = check_exercise(catalog[name], rounds=0, brief=True)

    assert outcome.complaints == ()
    assert outcome.trivial.good == outcome.trivial.all >= 5


def _copy(place: Path) -> None:
    """Copy an exercise; under a name of its own it has two examples only, so that all that is said is about itself."""
    folder, reference = place / "exercises" / "on_trial", place / "reference"
    shutil.copytree(ROOT / "exercises" / _ID, folder, ignore=shutil.ignore_patterns("examples"))
    reference.mkdir()
    shutil.copy(ROOT / "reference" / f"{_ID}.py", reference / "on_trial.py")
    declined = (ROOT / "exercises" / "declined.toml").read_text(encoding="utf-8")
    (place / "exercises" / "declined.toml").write_text(declined.replace(f"[{_ID}]", "[on_trial]"), encoding="utf-8")
    examples = folder / "examples"
    examples.mkdir()
    (examples / "right.py").write_text(f"# verdict: full marks\n{_REFERENCE}", encoding="utf-8")
    (examples / "wrong.py").write_text("# verdict: loses shapes\npass\n", encoding="utf-8")


def _complaints(place: Path, *changes: Fault) -> tuple[str, ...]:
    """Change files of the copy in `place`, and return what the gate complains of."""
    folder = place / "exercises" / "on_trial"
    for file, change in changes:
        path = place / "reference" / "on_trial.py" if file == "reference" else folder / file
        before = path.read_text(encoding="utf-8")
        after = change(before)
        assert after != before, f"the change does not apply to {file}"
        path.write_text(after, encoding="utf-8")
    return check_exercise(read_exercise(folder, place), rounds=0).complaints


@pytest.fixture
def broken(tmp_path: Path) -> Broken:
    """Return a function that changes one file of a copied exercise and gives the gate's complaints."""
    _copy(tmp_path)
    return lambda file, change: _complaints(tmp_path, (file, change))


def test_the_copy_is_sound_before_it_is_broken(broken: Broken) -> None:
    """A change that means nothing leaves nothing to complain about."""
    assert broken("statement.md", lambda text: text + "\n") == ()


def _plus(addition: str) -> Change:
    return lambda text: text + addition


def _mistake(
    name: str,
    body: str,
    *,
    replaces: str = "scale",
    dimension: str = "numerics",
    doc: str = "A title.\n\n    Why.",
    takes: str = "*arguments",
) -> str:
    return (
        "\n\nfrom grader.exercise.mistakes import mistake\n"
        f'\n\n@mistake(replaces="{replaces}", dimension="{dimension}")\n'
        f'def {name}({takes}):\n    """{doc}\n    """\n    {body}\n'
    )


_SAME = "from reference import self_attention_linear as right; return right.scale(*arguments)"
_HEADING = "## What is checked"
_FAULTS: dict[str, tuple[str, Change, tuple[str, ...]]] = {
    "a mistake that is none": (
        "mistakes.py",
        _plus(_mistake("same", _SAME)),
        ("mistake `same` loses nothing in numerics; it loses in nothing", "mistake `same` is diagnosed as nothing"),
    ),
    "a mistake twice": (
        "mistakes.py",
        _plus(_mistake("twin", "return arguments[0]")),
        ("mistake `twin` is diagnosed as `no_scaling` or `twin`",),
    ),
    "another dimension": (
        "mistakes.py",
        _plus(_mistake("thrice", "return arguments[0] * 3", dimension="shapes")),
        ("mistake `thrice` loses nothing in shapes",),
    ),
    "no title": (
        "mistakes.py",
        _plus(_mistake("untold", "return arguments[0] * 5", doc="No stop")),
        ("mistake `untold`: the docstring's first line", "mistake `untold` says nothing below its title"),
    ),
    "a slip": ("mistakes.py", _plus(_mistake("slip", "nonsense")), ("mistake `slip` fails by itself, with NameError",)),
    "other arguments": (
        "mistakes.py",
        _plus(_mistake("misfit", "return arguments[0]", takes="arguments")),
        ("mistake `misfit` takes (arguments), and the",),
    ),
    "another class": (
        "starter.py", lambda text: text.replace("class ", "class Other"), ("the starter is rejected",)
    ),
    "no heading": (
        "statement.md", lambda text: text.replace(_HEADING, "## Else"), (f"has no section `{_HEADING}`",)
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def told_of_faults(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return what the gate says of an exercise that has all of these faults; each is told of by its own name."""
    _copy(place := tmp_path_factory.mktemp("faults"))
    return _complaints(place, *((file, change) for file, change, _ in _FAULTS.values()))


@pytest.mark.parametrize("fault", _FAULTS)
def test_a_broken_exercise_is_told_what_is_wrong(fault: str, told_of_faults: tuple[str, ...]) -> None:
    """One plain sentence each names the thing and the remedy, whatever else is wrong."""
    wanted = _FAULTS[fault][2]

    assert [text for text in wanted if not any(text in line for line in told_of_faults)] == [], told_of_faults


@pytest.mark.parametrize(
    ("file", "change", "wanted"),
    [
        ("mistakes.py", _plus(_mistake("lost", "pass", replaces="no_step")), "replaces `no_step`, which the reference"),
        ("reference", lambda text: text + "\n1 / 0\n", "cannot be loaded: ZeroDivisionError"),
        ("reference", lambda text: text.replace("weights @ values", "values[1:]"), "must be a tensor of shape"),
    ],
    ids=["no such step", "raises", "another shape"],
)
def test_what_ends_the_gate_is_told(file: str, change: Change, wanted: str, broken: Broken) -> None:
    """What cannot be run is told at once, alone."""
    (told,) = broken(file, change)

    assert wanted in told


def _undefined(text: str) -> str:
    """Let a reference give NaN."""
    return text.replace("torch.softmax(", "float('nan') * torch.softmax(")


def test_nothing_is_held_against_a_broken_reference(tmp_path: Path) -> None:
    """Mistakes, starter and examples would seem wrong because of it; what is written is looked at all the same."""
    complaints = _told_at_once(tmp_path, "mistakes.py", lambda _: "")

    assert any("holds 0 of at least 8 known mistakes" in text for text in complaints)
    assert any(text.startswith("the reference gives NaN in") for text in complaints)
    assert [text for text in complaints if "`mistakes.py` holds" not in text and "the reference" not in text] == []


def _told_at_once(place: Path, file: str, change: Change) -> tuple[str, ...]:
    """Return complaints of a change beside a reference that is broken, which spares the proofs of all mistakes."""
    _copy(place)
    return _complaints(place, (file, change), ("reference", _undefined))


def test_a_check_without_points_that_raises_is_told(broken: Broken, monkeypatch: pytest.MonkeyPatch) -> None:
    """No student loses points by it, and so nobody else would notice."""

    def judge(*_: object) -> None:
        raise AttributeError("a name that is not there")

    monkeypatch.setitem(_CHECKS, "half", replace(checks()["half"], judge=judge))
    told = broken("statement.md", _plus("\n"))
    said = "the report on the reference says: ", "because of an error in the grader"
    assert any(all(text in line for text in said) for line in told), told


def test_a_starter_that_earns_points_is_told(broken: Broken) -> None:
    """What is handed out must not be worth anything."""
    assert broken("starter.py", lambda _: _REFERENCE) == ("the starter earns 100 points; it must earn none",)


def test_equal_sizes_are_told(tmp_path: Path) -> None:
    """Two axes of one size would let a swapped axis pass."""

    def equal(text: str) -> str:
        line = next(line for line in text.splitlines() if line.startswith("sizes"))
        return text.replace(line, "sizes = { time = 4, d_in = 4, d_out = 3 }")

    assert any("has two axes of the same size" in line for line in _told_at_once(tmp_path, "exercise.toml", equal))


def test_sizes_that_everybody_knows_are_told(broken: Broken) -> None:
    """An answer may hold all of them, and be wrong in any other."""
    told = broken(
        "exercise.toml", lambda text: re.sub(r"draw = .*", "sizes = { time = 21, d_in = 4, d_out = 6 }", text)
    )

    assert [line for line in told if "all sizes are known before a hand-in" in line]


def test_sizes_that_the_reference_does_not_take_are_told(broken: Broken) -> None:
    """What is drawn must keep to the contract, with each of many seeds."""
    product = "    return queries @ keys"
    told = broken("reference", lambda text: text.replace(product, f"    assert len(queries) != 33\n{product}"))

    assert len(told) == 1
    assert re.search(r"^with seed \d+ the reference of `on_trial` fails in `drawn/base`.*`x` of shape \(33, ", told[0])


def test_a_case_whose_numbers_nobody_compares_is_told(broken: Broken) -> None:
    """Whoever recognises it by its shape or dtype could give zeros there and keep full marks."""
    forgetful = broken("exercise.toml", lambda text: text.replace('"faint_key", "single_precision",', '"faint_key",'))

    assert len(forgetful) == 1
    assert forgetful[0].startswith("case `single_precision`: its output `context` may be zeros or half as much again")


def test_checks_that_trivial_answers_pass_are_told(broken: Broken) -> None:
    """An exercise that looks at shapes alone gives full marks for zeros."""

    def only_shapes(text: str) -> str:
        head = text.partition("[[checks]]")[0]
        case = head.partition('name = "')[2].partition("[[cases]]")[2].partition('name = "')[2].partition('"')[0]
        return f'{head}[[checks]]\ncheck = "shape"\npoints = 100\ncases = ["{case}"]\n'

    complaints = broken("exercise.toml", only_shapes)

    assert "zeros gets full marks; add a case that it fails" in complaints


def test_examples_of_one_kind_only_are_told(broken: Broken, tmp_path: Path) -> None:
    """An author shows what must be accepted and what must be caught; a missing kind is asked for by its folder."""
    for path in (tmp_path / "exercises" / "on_trial" / "examples").iterdir():
        path.unlink()

    first, second = broken("statement.md", _plus("\n"))

    assert first.startswith("`exercises/on_trial/examples/` has no example that must earn full marks")
    assert second.startswith("`exercises/on_trial/examples/` has no example that must lose points")


def test_the_catalogue_is_in_its_order(catalog: Catalog) -> None:
    """Exercises come as their `order` says, no two at one place, and each need is an exercise before it."""
    places = {exercise.id: exercise.spec.order for exercise in catalog.values()}
    early = {
        name: [need for need in catalog[name].spec.needs if places.get(need, 1e9) >= places[name]] for name in places
    }

    assert list(places.values()) == sorted(set(places.values()))
    assert {name: needs for name, needs in early.items() if needs} == {}


def test_a_size_that_never_changes_is_complained_of(tmp_path: Path) -> None:
    """Whoever writes the number of one case into the code would be right in all of them."""
    complaints = _told_at_once(tmp_path, "exercise.toml", lambda text: re.sub(r"d_in = \d+", "d_in = 3", text))

    assert any(text.startswith("`d_in` is 3 in all cases that points depend on") for text in complaints)


def test_two_sizes_that_never_agree_are_complained_of(tmp_path: Path) -> None:
    """Code that takes another way where both are equal would be right in all cases."""
    complaints = _told_at_once(tmp_path, "exercise.toml", lambda text: re.sub(r"d_out = \d+", "d_out = 29", text))

    assert any(text.startswith("`d_in` and `d_out` are equal in no case") for text in complaints)


def test_an_excuse_that_is_not_needed_is_complained_of(broken: Broken) -> None:
    """Excuses that nothing needs would hide the gap that comes with the next change."""
    excuse = '[exempt]\n"d_in = d_out" = "No reason at all."\n\n[[cases]]'
    complaints = broken("exercise.toml", lambda text: text.replace("[[cases]]", excuse, 1))

    assert len(complaints) == 1
    assert complaints[0].startswith("`[exempt]` excuses `d_in = d_out`")
