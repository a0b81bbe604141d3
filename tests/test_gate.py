"""The gate: every exercise of the catalogue passes, and a broken one is told what is wrong with it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.checks.registry import CHECKS
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.gate import check_exercise
from grader.gate.outcome import Ratio
from grader.gate.trial import Trial

_ID = "self_attention_linear"  # small and quick; any other would do
_REFERENCE = (ROOT / "reference" / f"{_ID}.py").read_text(encoding="utf-8")
_EXERCISES = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/exercise.toml"))


@pytest.mark.filterwarnings("default")  # students' code may be warned, of a dropout between layers of one, say
@pytest.mark.parametrize("name", _EXERCISES)
def test_an_exercise_passes_the_gate(name: str, catalog: Catalog, trial_of: Callable[[str], Trial]) -> None:
    """Its reference, starter, mistakes and examples all do what they must; examples are graded once for all tests."""
    outcome = check_exercise(catalog[name], examples=trial_of(name), rounds=0)

    assert outcome.complaints == ()
    assert outcome.caught == outcome.named == Ratio(outcome.caught.all, outcome.caught.all)
    assert outcome.caught.all >= 8
    assert outcome.accepted.all >= 6
    assert outcome.refused.all >= 8


@pytest.fixture
def broken(tmp_path: Path) -> Callable[..., tuple[str, ...]]:
    """Return a function that changes one file of a copied exercise and gives the gate's complaints."""
    folder, reference = tmp_path / "exercises" / _ID, tmp_path / "reference"
    shutil.copytree(ROOT / "exercises" / _ID, folder, ignore=shutil.ignore_patterns("examples"))
    reference.mkdir()
    shutil.copy(ROOT / "reference" / f"{_ID}.py", reference)
    # Under a name of its own it has two examples only, so that what is said is about the exercise alone.
    renamed = folder.rename(folder.with_name("on_trial"))
    (reference / f"{_ID}.py").rename(reference / "on_trial.py")
    declined = (ROOT / "exercises" / "declined.toml").read_text(encoding="utf-8")
    (tmp_path / "exercises" / "declined.toml").write_text(declined.replace(f"[{_ID}]", "[on_trial]"), encoding="utf-8")
    examples = renamed / "examples"
    examples.mkdir()
    (examples / "right.py").write_text(f"# verdict: full marks\n{_REFERENCE}", encoding="utf-8")
    (examples / "wrong.py").write_text("# verdict: loses shapes\npass\n", encoding="utf-8")

    def complain(file: str, change: Callable[[str], str]) -> tuple[str, ...]:
        path = reference / "on_trial.py" if file == "reference" else renamed / file
        before = path.read_text(encoding="utf-8")
        after = change(before)
        assert after != before, f"the change does not apply to {file}"
        path.write_text(after, encoding="utf-8")
        return check_exercise(read_exercise(renamed, tmp_path), rounds=0).complaints

    return complain


def test_the_copy_is_sound_before_it_is_broken(broken: Callable[..., tuple[str, ...]]) -> None:
    """A change that means nothing leaves nothing to complain about."""
    assert broken("statement.md", lambda text: text + "\n") == ()


def _plus(addition: str) -> Callable[[str], str]:
    return lambda text: text + addition


def _mistake(
    body: str, *, replaces: str = "scale", dimension: str = "numerics", doc: str = "A title.\n\n    Why."
) -> str:
    return (
        "\n\nfrom grader.exercise.mistakes import mistake\n"
        f'\n\n@mistake(replaces="{replaces}", dimension="{dimension}")\n'
        f'def one_more(*arguments):\n    """{doc}\n    """\n    {body}\n'
    )


_SAME = "from reference import self_attention_linear as right; return right.scale(*arguments)"
_PLAIN = "return arguments[0]"
_HEADING = "## What is checked"


@pytest.mark.parametrize(
    ("file", "change", "wanted"),
    [
        ("mistakes.py", _plus(_mistake(_SAME)), ("mistake `one_more` loses nothing in numerics; it loses in nothing",
                                                 "mistake `one_more` is diagnosed as nothing")),
        ("mistakes.py", _plus(_mistake(_PLAIN)), ("mistake `one_more` is diagnosed as `no_scaling` or `one_more`",)),
        ("mistakes.py", _plus(_mistake(_PLAIN, dimension="shapes")), ("mistake `one_more` loses nothing in shapes",)),
        ("mistakes.py", _plus(_mistake(_PLAIN, replaces="no_step")), ("replaces `no_step`, which the reference",)),
        ("mistakes.py", _plus(_mistake(_PLAIN, doc="No stop")), ("mistake `one_more`: the docstring's first line",
                                                                 "mistake `one_more` says nothing below its title")),
        ("mistakes.py", _plus(_mistake("nonsense")), ("mistake `one_more` fails by itself, with NameError",)),
        ("mistakes.py", _plus(_mistake(_PLAIN).replace("*arguments", "arguments")), ("takes (arguments), and the",)),
        ("mistakes.py", lambda _: "", ("holds 0 of at least 8 known mistakes",)),
        ("starter.py", lambda text: text.replace("class ", "class Other"), ("the starter is rejected",)),
        ("statement.md", lambda text: text.replace(_HEADING, "## Else"), (f"has no section `{_HEADING}`",)),
        ("reference", lambda text: text + "\n1 / 0\n", ("cannot be loaded: ZeroDivisionError",)),
        ("reference", lambda text: text.replace("weights @ values", "values[1:]"), ("must be a tensor of shape",)),
        ("reference", lambda text: text.replace("torch.softmax(", "float('nan') * torch.softmax("), ("gives NaN in",)),
    ],
)  # fmt: skip
def test_a_broken_exercise_is_told_what_is_wrong(
    file: str, change: Callable[[str], str], wanted: tuple[str, ...], broken: Callable[..., tuple[str, ...]]
) -> None:
    """One plain sentence each names the thing and the remedy."""
    complaints = broken(file, change)

    assert [text for text in wanted if not any(text in line for line in complaints)] == [], complaints


def test_a_check_without_points_that_raises_is_told(
    broken: Callable[..., tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No student loses points by it, and so nobody else would notice."""

    def judge(*_: object) -> None:
        raise AttributeError("a name that is not there")

    monkeypatch.setattr(type(CHECKS["half"]), "judge", judge)
    told = broken("statement.md", _plus("\n"))
    said = "the report on the reference says: ", "because of an error in the grader"
    assert any(all(text in line for text in said) for line in told), told


def test_a_starter_that_earns_points_is_told(broken: Callable[..., tuple[str, ...]]) -> None:
    """What is handed out must not be worth anything."""
    assert broken("starter.py", lambda _: _REFERENCE) == ("the starter earns 100 points; it must earn none",)


def test_equal_sizes_are_told(broken: Callable[..., tuple[str, ...]]) -> None:
    """Two axes of one size would let a swapped axis pass."""

    def equal(text: str) -> str:
        line = next(line for line in text.splitlines() if line.startswith("sizes"))
        return text.replace(line, "sizes = { time = 4, d_in = 4, d_out = 3 }")

    assert any("has two axes of the same size" in line for line in broken("exercise.toml", equal))


def test_a_case_whose_numbers_nobody_compares_is_told(broken: Callable[..., tuple[str, ...]]) -> None:
    """Whoever recognises it by its shape or dtype could give zeros there and keep full marks."""
    forgetful = broken("exercise.toml", lambda text: text.replace('"faint_key", "single_precision",', '"faint_key",'))

    assert len(forgetful) == 1
    assert forgetful[0].startswith("case `single_precision`: its output `context` may be zeros or half as much again")


def test_checks_that_trivial_answers_pass_are_told(broken: Callable[..., tuple[str, ...]]) -> None:
    """An exercise that looks at shapes alone gives full marks for zeros."""

    def only_shapes(text: str) -> str:
        head = text.partition("[[checks]]")[0]
        case = head.partition('name = "')[2].partition("[[cases]]")[2].partition('name = "')[2].partition('"')[0]
        return f'{head}[[checks]]\ncheck = "shape"\npoints = 100\ncases = ["{case}"]\n'

    complaints = broken("exercise.toml", only_shapes)

    assert "zeros gets full marks; add a case that it fails" in complaints


def test_examples_of_one_kind_only_are_told(broken: Callable[..., tuple[str, ...]], tmp_path: Path) -> None:
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


def test_a_size_that_never_changes_is_complained_of(broken: Callable[..., tuple[str, ...]]) -> None:
    """Whoever writes the number of one case into the code would be right in all of them."""
    complaints = broken("exercise.toml", lambda text: re.sub(r"d_in = \d+", "d_in = 3", text))

    assert any(text.startswith("`d_in` is 3 in all cases that points depend on") for text in complaints)


def test_two_sizes_that_never_agree_are_complained_of(broken: Callable[..., tuple[str, ...]]) -> None:
    """Code that takes another way where both are equal would be right in all cases."""
    complaints = broken("exercise.toml", lambda text: re.sub(r"d_out = \d+", "d_out = 29", text))

    assert any(text.startswith("`d_in` and `d_out` are equal in no case") for text in complaints)


def test_an_excuse_that_is_not_needed_is_complained_of(broken: Callable[..., tuple[str, ...]]) -> None:
    """Excuses that nothing needs would hide the gap that comes with the next change."""
    excuse = '[exempt]\n"d_in = d_out" = "No reason at all."\n\n[[cases]]'
    complaints = broken("exercise.toml", lambda text: text.replace("[[cases]]", excuse, 1))

    assert len(complaints) == 1
    assert complaints[0].startswith("`[exempt]` excuses `d_in = d_out`")
