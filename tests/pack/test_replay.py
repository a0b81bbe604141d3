"""A pack is no answer key: a script that knows its numbers has none of those that collected files are graded with."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.box.inline import InlineBox, observe_all
from grader.box.observations import CallSeen
from grader.box.plan import Plan
from grader.box.run import Limits
from grader.checks.evidence import Item
from grader.cli.main import main
from grader.exercise.catalog import ROOT, Catalog, Exercise
from grader.exercise.inputs import Case
from grader.judge.attempt import Outcome, attempt
from grader.judge.grade import observe_reference
from grader.judge.report import Status
from grader.judge.sheet import draw_up
from grader.pack.check import read_pack

# Their inputs are sizes, or chosen by hand, so the same for every seed: all cases of the first three.
_NOT_DRAWN = {"alibi", "causal_mask", "gradient_descent"}
_NOT_DRAWN_CASES = {("causal_renormalisation", "one_position")}
_EXERCISE = "simple_attention"
_COMMAND = re.compile(r"attention-gym (grade [^#`\n]+)")
_REPLAY = """
import torch

KNOWN = {known}

def simple_attention(x):
    return tuple(torch.tensor(one, dtype=torch.float64) for one in KNOWN[str(x.tolist())])
"""


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write two packs as an instructor does, and give their folders."""
    place = tmp_path_factory.mktemp("packs")
    for name in ("one", "other"):
        assert main(["exercise", "pack", _EXERCISE, "--out", str(place / name)]) == 0
    return place / "one" / _EXERCISE, place / "other" / _EXERCISE


def _numbers(case: Case) -> Iterator[Tensor]:
    values = [*case.arguments.values(), *(part for weight in case.weights for part in (weight.matrix, weight.bias))]
    yield from (value for value in values if isinstance(value, Tensor))


def test_two_seeds_share_no_inputs(catalog: Catalog) -> None:
    """Of no case in any exercise, but for those that have no numbers to draw."""
    known, other = 0x5EED, 0xFEED
    same = set()
    for name, exercise in catalog.items():
        again = exercise.cases(other)
        for title, case in exercise.cases(known).items():
            if all(starmap(torch.equal, zip(_numbers(case), _numbers(again[title]), strict=True))):
                same.add((name, title))

    assert {pair for pair in same if pair[0] not in _NOT_DRAWN} == _NOT_DRAWN_CASES
    assert {name for name, _ in same} >= _NOT_DRAWN


def test_each_pack_has_a_seed_of_its_own(packs: tuple[Path, Path]) -> None:
    """And none of them the public one of pytest."""
    seeds = {read_pack(folder).manifest.seed for folder in packs}

    assert len(seeds - {0}) == 2


def _options() -> list[tuple[str, ...]]:
    """Return the options, each set once, with which the documents name `grade`."""
    texts = [path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]]
    commands = [shlex.split(found) for text in texts for found in _COMMAND.findall(text)]
    return sorted({tuple(word for word in command if word.startswith("--")) for command in commands})


def _replay(folder: Path, path: Path) -> None:
    """Write a script that looks the inputs of a pack up, and gives what the pack says is expected."""
    pack = read_pack(folder)
    known = {}
    for call in pack.sheet.plan.calls:
        seen, x = pack.expected.calls.get(call.name), call.arguments.get("x")
        if isinstance(seen, CallSeen) and isinstance(x, Tensor):
            given = [one for slot in call.outputs if (one := seen.slots[slot.key].tensor) is not None]
            if sum(one.numel() for one in given) < 5000:  # a file has room for no more
                known[str(x.tolist())] = [one.tolist() for one in given]
    path.write_text(_REPLAY.format(known=known), encoding="utf-8")


def _graded(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> tuple[float, list[str]]:
    """Return the points in numerics that `grade` gives, and what it finds unusual."""
    capsys.readouterr()
    assert main(["grade", *options, _EXERCISE, str(path)]) == 0
    out = capsys.readouterr().out
    if "--json" in options:
        report = json.loads(out)
        assert report["status"] == Status.GRADED
        return report["dimensions"]["numerics"]["earned"], [clue["what"] for clue in report["clues"]]
    found = re.search(r"numerics +\W+([\d.]+) of", out)
    assert found is not None, out
    return float(found[1]), re.findall(r"a table of [^`]*|too long to inspect", out)


@pytest.mark.usefixtures("warm")
def test_a_replayed_pack_earns_no_numerics(
    packs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By every command that the documents name for grading; with the pack's own seed it would."""
    path = tmp_path / "replay.py"
    _replay(packs[0], path)
    seed = read_pack(packs[0]).manifest.seed

    known, said = _graded(capsys, path, "--json", "--seed", str(seed))
    assert known > 0
    assert said
    assert len(_options()) > 2, "the documents name `grade`"
    for options in _options():
        assert "--seed" not in options
        places = [
            word for option in options for word in ((option, str(tmp_path)) if option == "--plots" else (option,))
        ]
        earned, said = _graded(capsys, path, *places)
        assert (earned, bool(said)) == (0, True), options


# In place of the reference: each entry point gives what it gave for the same inputs, or else for others of their shape.
_REPLAY_ALL = """
import base64
import hashlib

import torch

KNOWN = {known}
SHAPES = {shapes}


def stored(value):
    if isinstance(value, dict):
        data = bytearray(base64.b64decode(value["data"]))
        numbers = torch.frombuffer(data, dtype=getattr(torch, value["dtype"])) if data else torch.empty(0)
        return numbers.view(value["shape"]).clone()
    return tuple(stored(one) for one in value) if isinstance(value, tuple) else value


def replayed(name, *given, **named):
    exact, shapes = keys(name, given, named)
    return stored(KNOWN.get(exact, KNOWN.get(SHAPES.get(shapes))))
"""
_KEYS = """
def keys(name, given, named):
    inputs = [one for one in (*given, *named.values()) if isinstance(one, torch.Tensor)]
    exact, shapes = hashlib.sha1(name.encode()), name
    for one in inputs:
        exact.update(one.detach().double().numpy().tobytes())
        shapes += str(tuple(one.shape)) + str(one.dtype)
    return exact.hexdigest()[:12], shapes
"""
# Their answers do not depend on the seed: those above, and a mask of padding that lies where it always does.
_SAME_ANSWERS = {*_NOT_DRAWN, "padding_mask"}
_LEFT_IN_A_MODULE = {"weight_transfer"}  # it returns nothing, so there is nothing to replay
# Their tables are smaller than what is told; of these only the second is drawn.
_SMALL = {"causal_mask", "sentence_embedding", "gradient_descent", "weight_transfer"}
_MOST = 240_000  # characters of a script; more is refused


def _entries(space: dict[str, Any], exercise: Exercise) -> Iterator[tuple[Any, str, str]]:
    """Yield what holds each entry point, or the `forward` of one that is a class, its name there, and a name for it."""
    for name in {exercise.spec.entry.name, *(part.entry.name for part in exercise.spec.parts.values())}:
        yield (space[name], "forward", f"{name}.forward") if isinstance(space[name], type) else (space, name, name)


def _put(holder: Any, name: str, value: object) -> None:
    if isinstance(holder, dict):
        holder[name] = value
    else:
        setattr(holder, name, value)


def _told(value: Any) -> Any:
    """Return a result as a script holds it."""
    if isinstance(value, Tensor):
        data = base64.b64encode(value.detach().contiguous().numpy().tobytes()).decode()
        return {"data": data, "dtype": str(value.dtype).removeprefix("torch."), "shape": tuple(value.shape)}
    return tuple(map(_told, value)) if isinstance(value, list | tuple) else value


def _script(exercise: Exercise, plan: Plan) -> str:
    """Return the reference with all its entry points replaced by a table of what they give where `plan` asks them."""
    own: dict[str, Any] = {"torch": torch, "hashlib": hashlib}
    exec(_KEYS, own)
    known: dict[str, Any] = {}
    shapes: dict[str, str] = {}
    space = dict(exercise.reference()())

    def recording(label: str, original: Callable[..., Any], skipped: int) -> Callable[..., Any]:
        def recorded(*given: Any, **named: Any) -> Any:
            exact, shape = own["keys"](label, given[skipped:], named)
            result = original(*given, **named)
            known.setdefault(exact, _told(result))
            shapes.setdefault(shape, exact)
            return result

        return recorded

    for holder, name, label in list(_entries(space, exercise)):
        original = holder[name] if isinstance(holder, dict) else getattr(holder, name)
        _put(holder, name, recording(label, original, int(holder is not space)))
    observe_all(plan.untrained(), lambda: space)
    room, kept = _MOST, {}
    for exact, told in sorted(known.items(), key=lambda one: len(repr(one))):
        if (room := room - len(repr(told)) - 20) > 0:
            kept[exact] = told
    lines = [exercise.reference_path.read_text(encoding="utf-8"), _REPLAY_ALL.format(known=kept, shapes=shapes), _KEYS]
    for holder, name, label in _entries(space, exercise):
        place, given = (label, "self, *given") if holder is not space else (name, "*given")
        lines.append(f"{place} = lambda {given}, **named: replayed({label!r}, *given, **named)")
    return "\n".join(lines)


def _untrained(exercise: Exercise) -> Exercise:
    """Return the exercise without the checks of what is trained: those numbers are in no pack."""
    spec = exercise.spec
    trained = {case.name for case in spec.cases if spec.part_of(case).entry.kind.trains}
    checks = tuple(check for check in spec.checks if not trained & set(check.cases))
    return replace(exercise, spec=spec.model_copy(update={"checks": checks}))


def _outcome(exercise: Exercise, seed: int, script: str) -> Outcome:
    """Return what `grade` finds of a script with a seed."""
    run, truth = partial(InlineBox().run, limits=Limits()), partial(observe_reference, exercise)
    return attempt(draw_up(exercise, seed), script, run, truth)


def _passed(outcome: Outcome) -> list[Item]:
    """Return the lines in numerics that have points."""
    lines = (line for line in outcome.judged if line.item.check.dimension == "numerics")
    return [line.item for line in lines if line.passed and line.item.points]


def _expected(outcome: Outcome, item: Item) -> list[Any]:
    """Return the numbers that are expected in the calls of a line."""
    seen = [outcome.evidence.expected.calls[call.name] for call in item.check.work(item).calls]
    return [_told(slot.tensor) for one in seen for key, slot in one.slots.items() if key.startswith("output")]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "exercises").glob("*/exercise.toml")))
def test_the_numbers_of_a_pack_earn_nothing_with_another_seed(name: str, catalog: Catalog) -> None:
    """A script with all that a seed asks and expects has points there, and elsewhere for what is always the same.

    It runs in this process; what `grade` does beside that does not depend on the exercise.
    """
    exercise = _untrained(catalog[name])
    script = _script(exercise, draw_up(exercise, 0x5EED).plan)

    known, other = (_outcome(exercise, seed, script) for seed in (0x5EED, 0xFEED))

    assert [one.name for one in _passed(other) if _expected(known, one) != _expected(other, one)] == []
    assert (len(_passed(known)) > 0) == (name not in _LEFT_IN_A_MODULE)
    assert (len(_passed(other)) > len(_passed(known)) / 2) == (name in _SAME_ANSWERS)
    told = {clue.what for clue in other.clues() if clue.what.startswith(("a table of", "a file that is too long"))}
    assert bool(told) == (name not in _SMALL)


@pytest.mark.usefixtures("warm")
def test_a_drawn_seed_is_told_and_repeats_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of one call for all its files, and another in the next call."""
    answer = str(ROOT / "exercises" / _EXERCISE / "examples" / "right_bloem.py")
    told: list[int] = []
    for _ in range(2):
        capsys.readouterr()
        main(["grade", "--json", _EXERCISE, answer, answer])
        seeds = {json.loads(line)["seed"] for line in capsys.readouterr().out.splitlines()}
        assert len(seeds) == 1
        told += seeds
    main(["grade", _EXERCISE, answer, "--seed", str(told[0])])

    assert told[0] != told[1]
    assert f"seed {told[0]}" in capsys.readouterr().out
