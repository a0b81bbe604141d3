"""What the docs say is so: sizes, links, paths, commands, settings, tables, generated pages, an example."""

from __future__ import annotations

import ast
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import BaseModel
from typer.main import get_command

from benchmarks.__main__ import app as benchmarks
from grader.checks.registry import checks
from grader.cli.exercises import COMMAND, exercise_page
from grader.cli.main import make_app
from grader.errors import SettingsError
from grader.exercise import spec
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.gate import check_exercise
from grader.installation import budget_of
from grader.settings import PREFIX, Settings

_DOCUMENTS = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
)
_LONGEST = {"README.md": 5000, "CONTRIBUTING.md": 9000}  # bytes
_LONGEST_DECISION = 6000  # bytes: one page
_GUIDE = "docs/authors.md"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
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
    return [text for name, text in _FENCE.findall(_read(document)) if name == language]


@pytest.mark.parametrize(("document", "limit"), _LONGEST.items())
def test_the_first_pages_are_short(document: str, limit: int) -> None:
    """What everybody reads first stays short; details have pages of their own below `docs/`."""
    assert len(_read(document).encode()) <= limit, f"move a part of {document} to a page in docs/"


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_paths_exist(document: str) -> None:
    """Every path that a document quotes is there, but for those with a part to fill in."""
    quoted = re.findall(r"`([\w.-]+(?:/[\w.-]+)+/?)`", _read(document))
    ours = {entry.name for entry in ROOT.iterdir()}

    assert [path for path in quoted if path.split("/")[0] in ours and not (ROOT / path).exists()] == []


def _targets(document: str) -> Iterator[tuple[str, Path, str]]:
    """Yield each link within the docs: as it is written, the file that it leads to, and the heading."""
    for path, heading in _LINK.findall(_FENCE.sub("", _read(document))):
        target = (ROOT / document).parent / path if path else ROOT / document
        yield f"{path}#{heading}" if heading else path, target.resolve(), heading


def _headings(path: Path) -> set[str]:
    """Return the anchors of a page as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    """Every link leads to a file that is there, and to a heading that it has."""
    dead = [
        written
        for written, target, heading in _targets(document)
        if not target.exists() or (heading and heading not in _headings(target))
    ]

    assert dead == []


def test_every_page_and_picture_is_linked() -> None:
    """A reader who begins at the README finds each page of the docs, and each picture is shown on one of them."""
    found, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        linked = {target for _, target, _ in _targets(str(page.relative_to(ROOT)))} - found
        found |= linked
        left += [target for target in linked if target.suffix == ".md" and target.is_relative_to(ROOT / "docs")]
    there = {path for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".png")}

    assert {str(path.relative_to(ROOT)) for path in there - found} == set()


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_commands_exist(document: str) -> None:
    """Every program, module and target that a document shows is there, with its options."""
    text = _read(document)
    targets = re.findall(r"^(\w+):", _read("Makefile"), re.MULTILINE)
    modules = set(re.findall(r"python -m ([\w.]+)", text)) - {"grader"}

    ours = re.findall(r"(?:-m grader|(?<!-t )attention-gym) +([a-z][\w -]*)", text)
    assert [words for words in ours if not _is_command(words.split())] == []
    assert [name for name in re.findall(r"(?:^|`)make (\w+)", text, re.MULTILINE) if name not in targets] == []
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []
    assert set(re.findall(r"-m benchmarks (\w+)", text)) <= set(get_command(benchmarks).commands)


def test_the_readme_names_the_command_of_the_tests() -> None:
    """Whoever clones the project, a machine too, finds in the first page how to test it."""
    assert "make test" in _blocks("README.md", "")[0]
    assert "make test" in _read(".ci/run").splitlines()


def _is_command(words: list[str]) -> bool:
    """Return whether the words begin with a command of the command line, and name only options that it has."""
    command, rest = get_command(make_app()), list(words)
    while rest and hasattr(command, "commands"):
        if rest[0] not in command.commands:
            return False
        command = command.commands[rest.pop(0)]
    options = {option for parameter in command.params for option in parameter.opts}
    return not hasattr(command, "commands") and {word for word in rest if word.startswith("--")} <= options


def _variables() -> set[str]:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({f"{PREFIX}NONSENSE": "1"})
    return set(re.findall(rf"{PREFIX}\w+", str(caught.value))) - {f"{PREFIX}NONSENSE"}


@pytest.mark.parametrize("document", _DOCUMENTS)
def test_settings_exist(document: str) -> None:
    """Every variable that a document names is read."""
    assert set(re.findall(rf"{PREFIX}\w+", _read(document))) - {PREFIX} <= _variables()


def test_every_setting_is_described() -> None:
    """Operators have a table of all variables, and contributors the docstring of all fields."""
    described = set(re.findall(r"\w+", (Settings.__doc__ or "").partition("Attributes:")[2]))

    assert {row[0] for row in _rows("docs/operators.md", "variable")} == _variables()
    assert {field.name for field in fields(Settings)} - described == set()


def test_the_least_memory_is_as_operators_read_it(catalog: Catalog) -> None:
    """The docs say how much memory one submission at a time needs, and two."""
    one, two = (budget_of(Settings(), catalog).needed(slots) >> 20 for slots in (1, 2))

    assert f"needs {one} MiB of memory, two need {two} MiB" in _read("docs/operators.md")
    assert f"{one} MiB with the limit of 1 GiB" in _read("docs/sandbox.md")


def test_a_space_gets_the_gradio_that_is_pinned() -> None:
    """The front matter's version is the one of `requirements.txt`, and its file and Python are there."""
    front = dict(line.split(": ", 1) for line in _read("README.md").split("---")[1].strip().splitlines())

    assert f"gradio=={front['sdk_version']}" in _read("requirements.txt").splitlines()
    assert f'requires-python = ">={front["python_version"].strip(chr(34))}"' in _read("pyproject.toml")
    assert (ROOT / front["app_file"]).is_file()


def test_the_page_of_exercises_is_up_to_date(catalog: Catalog) -> None:
    """It is generated; the gate passes nothing but complete sets, so counting is enough."""
    assert _read("docs/exercises.md") == exercise_page(catalog), f"run `make tables`, which is `{COMMAND}`"


def test_every_decision_is_one_page_and_in_the_index() -> None:
    """The index has the number, the title and the date of each file, in order and without a gap."""
    rows = []
    for number, path in enumerate(sorted((ROOT / "docs" / "decisions").glob("0*.md")), 1):
        text = path.read_text(encoding="utf-8")
        title, dates = re.match(r"# (.+)\n\nDate: ([\d, -]+)\. Status: \S", text).groups()
        rows.append([f"[{number:04}]({path.name})", title.removeprefix(f"{number}. "), dates])
        assert path.name.startswith(f"{number:04}-"), f"{path.name} has no number of its own; the next is {number:04}"
        assert len(text.encode()) <= _LONGEST_DECISION, path.name

    assert _rows("docs/decisions/README.md", "number") == rows


def test_every_dependency_has_its_reason() -> None:
    """CONTRIBUTING's table names each package of the requirements files, and no other."""
    cells = ", ".join(first.replace("*tests only:*", "") for first, _ in _rows("CONTRIBUTING.md", "package"))
    named = {name.strip().lower() for name in cells.split(",")}
    lines = f"{_read('requirements.in')}\n{_read('requirements-dev.txt')}"

    assert named == {name.lower() for name in re.findall(r"^([\w-]+)==", lines, re.MULTILINE)}


def test_every_part_of_the_grader_is_in_the_architecture() -> None:
    """The list of modules names each module and folder of `grader/`."""
    parts = {
        path.stem for path in (ROOT / "grader").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    shown = set(re.findall(r"\w+", _blocks("docs/architecture.md", "")[0]))

    assert parts - {"__init__", "__main__"} - shown == set()


def test_the_guide_lists_every_check() -> None:
    """Each with its dimension."""
    known = [[name, kind.dimension] for name, kind in checks().items()]

    rows = sorted(row[:2] for row in _rows(_GUIDE, "check"))
    assert rows == sorted(known), f"the table under *The checks* in {_GUIDE} has a row for each check"


def test_the_guide_names_every_field() -> None:
    """Whatever an `exercise.toml` may hold is in the guide; `constructor` of a case is `construct` in the file."""
    models = [kind for kind in vars(spec).values() if isinstance(kind, type) and issubclass(kind, BaseModel)]
    models += [check.options for check in checks().values()]
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
    folder, examples = tmp_path / "exercises" / "toy", tmp_path / "exercises" / "toy" / "examples"
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

    left = [text for text in outcome.complaints if "are equal in no case" not in text]  # a case for each two axes
    assert left == ["`mistakes.py` holds 1 of at least 8 known mistakes; write the others"]
