"""What README, CONTRIBUTING and the authors' guide say is so: paths, commands, settings, tables, an example."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import BaseModel
from typer.main import get_command

from grader.checks.registry import CHECKS
from grader.cli.main import make_app
from grader.errors import SettingsError
from grader.examples import read_examples
from grader.exercise import spec
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.exercise.spec import Dimension
from grader.gate import check_exercise
from grader.gate.outcome import Share
from grader.gate.trivial import TRIVIAL
from grader.settings import PREFIX, Settings

_DOCUMENTS = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    *("docs/authoring.md", "docs/sandbox.md", "docs/cheating.md", "docs/gpu.md"),
)
_GUIDE = "docs/authoring.md"
_IMPORTS = """\
from dataclasses import replace
import torch
from torch import Tensor
from grader.exercise.inputs import Case
from grader.exercise.mistakes import mistake
"""


def _read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def _rows(document: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table whose heading begins so, without backticks."""
    lines = iter(_read(document).splitlines())
    next(line for line in lines if line.startswith(f"| {heading} |"))
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().replace("`", "") for cell in line.strip("|").split("|")])
    return rows


def _blocks(document: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", _read(document), re.DOTALL)


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_paths_exist(document: str) -> None:
    """Every path that a document quotes or links to is there."""
    text = _read(document)
    quoted = re.findall(r"`([\w.-]+(?:/[\w.-]+)+/?)`", text)
    linked = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    ours = {entry.name for entry in ROOT.iterdir()}

    assert [path for path in quoted if path.split("/")[0] in ours and not (ROOT / path).exists()] == []
    assert [path for path in linked if not (ROOT / document).parent.joinpath(path).exists()] == []


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_commands_exist(document: str) -> None:
    """Every `python -m grader …` and `make …` that a document shows is a command and a target."""
    text = _read(document)
    targets = re.findall(r"^(\w+):", _read("Makefile"), re.MULTILINE)

    assert [words for words in re.findall(r"-m grader ([\w -]+)", text) if not _is_command(words.split())] == []
    assert [name for name in re.findall(r"(?:^|`)make (\w+)", text, re.MULTILINE) if name not in targets] == []


def _is_command(words: list[str]) -> bool:
    """Return whether the words begin with a command of the command line, and name only options that it has."""
    command, rest = get_command(make_app()), list(words)
    while rest and hasattr(command, "commands"):
        if rest[0] not in command.commands:
            return False
        command = command.commands[rest.pop(0)]
    options = {option for parameter in command.params for option in parameter.opts}
    return not hasattr(command, "commands") and {word for word in rest if word.startswith("--")} <= options


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_settings_exist(document: str) -> None:
    """Every variable that a document names is read."""
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({f"{PREFIX}NONSENSE": "1"})
    known = set(re.findall(rf"{PREFIX}\w+", str(caught.value))) - {f"{PREFIX}NONSENSE"}

    assert set(re.findall(rf"{PREFIX}\w+", _read(document))) - {PREFIX} <= known


def test_every_setting_is_described() -> None:
    """README sends its readers to the settings' docstring, so each has its words there."""
    described = set(re.findall(r"\w+", (Settings.__doc__ or "").partition("Attributes:")[2]))

    assert {field.name for field in fields(Settings)} - described == set()


def test_a_space_gets_the_gradio_that_is_pinned() -> None:
    """The front matter's version is the one of `requirements.txt`, and its file and Python are there."""
    front = dict(line.split(": ", 1) for line in _read("README.md").split("---")[1].strip().splitlines())

    assert f"gradio=={front['sdk_version']}" in _read("requirements.txt").splitlines()
    assert f'requires-python = ">={front["python_version"].strip(chr(34))}"' in _read("pyproject.toml")
    assert (ROOT / front["app_file"]).is_file()


def test_the_readme_has_the_gates_table(catalog: Catalog) -> None:
    """What `exercise check --all --markdown` prints: the gate passes nothing but all of all, so counts are enough."""
    actual = []
    for name, exercise in catalog.items():
        paid = {CHECKS[check.check].dimension for check in exercise.spec.checks if check.points}
        right = [example.loses is None for example in read_examples(name)]
        counts = (len(exercise.mistakes), len(exercise.mistakes), right.count(True), right.count(False), len(TRIVIAL))
        graded = ", ".join(dimension for dimension in Dimension if dimension in paid)
        actual.append([name, graded, *(str(Share(count, count)) for count in counts)])

    assert _rows("README.md", "exercise | graded on")[:-1] == actual


def test_every_dependency_has_its_reason() -> None:
    """CONTRIBUTING's table names each package of the requirements files, and no other."""
    cells = ", ".join(first.replace("*tests only:*", "") for first, _ in _rows("CONTRIBUTING.md", "package"))
    named = {name.strip().lower() for name in cells.split(",")}
    lines = f"{_read('requirements.in')}\n{_read('requirements-dev.txt')}"

    assert named == {name.lower() for name in re.findall(r"^([\w-]+)==", lines, re.MULTILINE)}


def test_every_part_of_the_house_is_on_the_map() -> None:
    """CONTRIBUTING's map names each module and folder of `grader/`."""
    parts = {
        path.stem for path in (ROOT / "grader").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    shown = set(re.findall(r"\w+", _blocks("CONTRIBUTING.md", "")[0]))

    assert parts - {"__init__", "__main__"} - shown == set()


def test_the_guide_lists_every_check() -> None:
    """In the order of the registry, each with its dimension."""
    assert [row[:2] for row in _rows(_GUIDE, "check")] == [[name, kind.dimension] for name, kind in CHECKS.items()]


def test_the_guide_names_every_field() -> None:
    """Whatever an `exercise.toml` may hold is in the guide; `constructor` of a case is `construct` in the file."""
    models = [kind for kind in vars(spec).values() if isinstance(kind, type) and issubclass(kind, BaseModel)]
    named = {info.alias or name for kind in models for name, info in kind.model_fields.items()}

    assert named - set(re.findall(r"[\w]+", _read(_GUIDE))) == set()


def _sentences() -> Iterator[str]:
    """Yield what the gate may complain of, with `…` where something is filled in."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "grader" / "gate").glob("*.py")))
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.JoinedStr):
            parts = node.value.values
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)
        elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def test_the_guide_explains_every_sentence_of_the_gate() -> None:
    """Each has a line that says what to do, and no line is about a sentence that is gone."""
    phrases = [phrase for phrase, _ in _rows(_GUIDE, "it says")]
    sentences = [re.sub("`", "", text) for text in _sentences()]
    loading = "replaces … which the reference does not define"  # said where mistakes are applied

    assert [text for text in sentences if not any(phrase in text for phrase in phrases)] == []
    assert [phrase for phrase in phrases if not any(phrase in text for text in sentences)] == [loading]


def test_the_guides_module_is_a_contract() -> None:
    """In the place of the example's own entry and cases it is read as it stands, and its names fit together."""
    toml, _ = _blocks(_GUIDE, "toml")
    module = _read(_GUIDE).partition("```\n[entry]\n")[2].partition("```")[0]
    check = '\n[[checks]]\ncheck = "values"\npoints = 100\ncases = ["causal"]\n'
    text = f"{toml.partition('[entry]')[0]}[entry]\n{module}{check}"

    read = spec.Spec.model_validate(tomllib.loads(text))

    assert (read.entry.kind, read.inputs["mask"].kind) == ("module", "none")


def test_the_guides_example_is_an_exercise(tmp_path: Path) -> None:
    """Its files, put together as it says, pass the gate but for what the guide leaves to the author."""
    toml, declined = _blocks(_GUIDE, "toml")
    reference, mistakes, inputs = (_IMPORTS + block for block in _blocks(_GUIDE, "python"))
    folder, examples = tmp_path / "exercises" / "toy", tmp_path / "tests" / "submissions" / "toy"
    for place in (folder, examples, tmp_path / "reference"):
        place.mkdir(parents=True)
    answer = "def plain_weights(query, key):\n    return (query @ key.mT).softmax({})\n"
    texts = {
        folder / "exercise.toml": toml.replace('title = "very', 'make = "first_row_equal"\ntitle = "very'),
        folder.parent / "declined.toml": declined.replace("plain_weights", folder.name),
        folder / "statement.md": "## What to build\n\n## What you write\n\n## What is checked\n",
        folder / "starter.py": "def plain_weights(query, key):\n    raise NotImplementedError\n",
        folder / "mistakes.py": mistakes,
        folder / "inputs.py": inputs,
        tmp_path / "reference" / "toy.py": reference.replace("from grader", "# from grader"),
        examples / "right.py": f"# verdict: full marks\n{answer.format(-1)}",
        examples / "wrong.py": f"# verdict: loses numerics\n# diagnosis: softmax_over_queries\n{answer.format(-2)}",
    }
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")

    outcome = check_exercise(read_exercise(folder, tmp_path))

    assert outcome.complaints == ("`mistakes.py` holds 1 of at least 8 known mistakes; write the others",)
