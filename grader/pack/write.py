"""Writes a pack: what a student needs to solve an exercise and to check the answer, and nothing that gives it away."""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from grader.box.inline import observe_all
from grader.box.observations import Event, Observations
from grader.box.plan import Call, Plan
from grader.box.wire.answer import END, pack
from grader.box.wire.job import encode_job
from grader.checks.evidence import base_call, calling
from grader.checks.registry import check_of
from grader.exercise.catalog import ROOT, Exercise
from grader.exercise.inputs import Case
from grader.exercise.spec import Spec
from grader.judge.grade import observe_reference
from grader.judge.sheet import of_cases
from grader.pack.check import CASES, DATA, DECODE, EXPECTED, MANIFEST, ROUNDED, SPEC, Manifest

_ALWAYS = ("torch", "numpy", "safetensors", "pydantic", "pytest")

# The texts of a pack that are the same for each exercise but for its name; `ID` and `TITLE` are filled in.

_README = """\
# TITLE

`statement.md` says what to build. Write it in `ID.py`, and see with pytest how far you are:

```
python -m venv .venv
.venv/bin/pip install -r requirements.txt
.venv/bin/pytest
```

(On Windows: `.venv\\Scripts\\pip` and `.venv\\Scripts\\pytest`.) One item of pytest is one line of the report. Where an
item fails it says what was expected, what was seen, and where; hints stand with the first one.

Your file runs in a plain subprocess, without a sandbox: it can do what you can do. `data/` and `grader/` stay as they
are; what was expected is in there as numbers, and how to get it is yours to find.
"""

_SETTINGS = """\
[pytest]
testpaths = test_ID.py
pythonpath = .
# A grader that is installed beside this pack keeps out of its way.
addopts = -p no:grader.pytest_plugin
disable_test_id_escaping_and_forfeit_all_rights_to_community_support = true
"""

_SUMMARY = '''\
"""Grades once, and says in the end what the items of pytest have no place for."""

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REPORT = pytest.StashKey()


@pytest.fixture(scope="session")
def report(request):
    from grader.pack.check import read_pack

    request.config.stash[REPORT] = read_pack(HERE).grade(HERE / "ID.py")
    return request.config.stash[REPORT]


def pytest_terminal_summary(terminalreporter, config):
    if REPORT in config.stash:
        from grader.pack.check import summary

        terminalreporter.section("ID.py")
        for line in summary(config.stash[REPORT]):
            terminalreporter.line(line)
'''

_TEST = '''\
"""Holds ID.py against what the exercise asks, one item per line of the report."""

from pathlib import Path

import pytest

import grader
from grader.errors import GraderFault

HERE = Path(__file__).resolve().parent
if Path(grader.__file__).resolve().parent != HERE / "grader":
    pytest.fail(f"another grader came first, from {grader.__file__}; run pytest in {HERE}", pytrace=False)

from grader.pack.check import read_pack  # noqa: E402

try:
    PACK = read_pack(HERE)
except GraderFault as fault:
    pytest.fail(str(fault), pytrace=False)


@pytest.mark.parametrize("line", PACK.lines, ids=str)
def test_answer(line, report):
    verdict, text = PACK.verdict(report, line)
    if verdict == "skipped":
        pytest.skip(text)
    if verdict != "passed":
        pytest.fail(text, pytrace=False)
'''


def contents(exercise: Exercise, seed: int) -> dict[str, bytes]:
    """Return the files of a pack by path, with tensors drawn from `seed`.

    Raises:
        AuthorError: the exercise is written wrongly, or its reference fails.
    """
    data, grader = _data(exercise, seed), _grader(exercise.spec)
    texts = {"README.md": _README, "conftest.py": _SUMMARY, "pytest.ini": _SETTINGS, f"test_{exercise.id}.py": _TEST}
    return {
        **{name: t.replace("ID", exercise.id).replace("TITLE", exercise.title).encode() for name, t in texts.items()},
        "requirements.txt": _requirements(grader.values()).encode(),
        "statement.md": exercise.statement.encode(),
        f"{exercise.id}.py": exercise.starter.encode(),
        f"{DATA}/{MANIFEST}": Manifest.of(exercise.id, seed, data).model_dump_json(indent=2).encode(),
        **{f"{DATA}/{name}": content for name, content in data.items()},
        **grader,
    }


def _data(exercise: Exercise, seed: int) -> dict[str, bytes]:
    cases = exercise.cases(seed)
    plan = of_cases(exercise.spec, cases).plan
    expected, _ = observe_reference(exercise, plan)
    # In float32 whatever is not lower already: a file that insists on it is judged by that.
    rounded = observe_all(plan.untrained().in_dtype("float32"), exercise.reference())
    return {
        SPEC: (exercise.folder / "exercise.toml").read_bytes(),
        CASES: write_cases(cases, plan),
        EXPECTED: _frames(expected, plan),
        ROUNDED: _frames(rounded, plan),
    }


def write_cases(cases: Mapping[str, Case], plan: Plan) -> bytes:
    """Return the tensors of `cases`, as the job that calls each of them once; `plan` is their sheet's."""
    return encode_job(calling(plan, cases.values(), _call_out), source="")


def _call_out(case: Case) -> Call:
    call = base_call(case, backward=True)
    return replace(call, arguments={**call.arguments, DECODE: case.decode})


def _frames(observations: Observations, plan: Plan) -> bytes:
    events: list[Event] = [*observations.builds.values(), *observations.calls.values()]
    return b"".join(pack(event, plan) for event in events) + END


def _grader(spec: Spec) -> dict[str, bytes]:
    """Return what is needed of the grader: of drivers and checks only the exercise's own, for others hold answers."""
    kinds = (part.entry.kind for part in (spec, *spec.parts.values()))
    tables = {
        "DRIVERS": frozenset(f"Kind.{kind.name}" for kind in kinds),
        "MODELS": frozenset(repr(case.constructor["model"]) for case in spec.cases if "model" in case.constructor),
        "TRAVELLING": frozenset(),
    }
    return _files_needed(["grader.pack.check", *(check_of(one).module for one in spec.checks)], ROOT, tables)


def _requirements(modules: Iterable[bytes]) -> str:
    """Return the lines that pin what a pack needs, as this grader is pinned itself."""
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    pinned = {match[0]: line for line in lines if (match := re.match(r"[\w-]+(?===)", line))}
    code = b"\n".join(modules).decode()
    also = (name for name in pinned if re.search(rf"^ *(import|from) {name}\b", code, re.MULTILINE))
    return "".join(f"{pinned[name]}\n" for name in dict.fromkeys((*_ALWAYS, *also)))


def write_folder(files: dict[str, bytes], folder: Path) -> None:
    """Write the files of a pack into a new folder.

    Raises:
        OSError: it is there already, or cannot be written.
    """
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def write_zip(files: dict[str, bytes], path: Path) -> None:
    """Write the files of a pack into a new zip file, below a folder of its name; the same files give the same bytes.

    Raises:
        OSError: it is there already, or cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(f"{path.stem}/{name}"), content, zipfile.ZIP_DEFLATED)


# ---- which modules of the grader some of them need, read off the imports without importing anything


def _files_needed(modules: Iterable[str], root: Path, tables: Mapping[str, frozenset[str]]) -> dict[str, bytes]:
    """Return the files below `root` that `modules` are made of, themselves included, by path.

    Imports inside functions count, and names of ours in strings, which are imported later; what only a type checker
    imports does not. `tables` says which keys the dictionary of that name must keep, as they are written; others leave
    it, and take what they alone needed with them.
    """
    found: dict[str, bytes] = {}
    waiting = [name for module in modules for name in _with_packages(module)]
    while waiting:
        path = _path(waiting.pop(), root)
        if path is None or (name := path.relative_to(root).as_posix()) in found:
            continue
        found[name] = path.read_bytes()
        tree = ast.parse(found[name])
        if _cut(tree, tables):
            found[name] = f"{ast.unparse(tree)}\n".encode()
        waiting += _imports(tree)
    return found


def _path(module: str, root: Path) -> Path | None:
    """Return the file of a module, None where the name is none of ours."""
    place = root.joinpath(*module.split("."))
    paths = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in paths if path.is_file()), None)


def _imports(node: ast.AST) -> Iterator[str]:
    """Yield every name that may be a module, with the packages around it."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("grader."):
        names = [node.value]
    for name in names:
        yield from _with_packages(name)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def _with_packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _cut(module: ast.Module, tables: Mapping[str, frozenset[str]]) -> bool:
    """Take entries out of a module's tables, and imports that nobody uses then; return whether it has such a table."""
    cut = False
    for node in module.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict):
            keep = tables.get(ast.unparse(node.target))
            cut |= keep is not None
            pairs = list(zip(node.value.keys, node.value.values, strict=True))
            pairs = [(key, value) for key, value in pairs if keep is None or (key and ast.unparse(key) in keep)]
            node.value.keys, node.value.values = [key for key, _ in pairs], [value for _, value in pairs]
    if cut:
        used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
        module.body = [node for node in module.body if _is_used(node, used)]
    return cut


def _is_used(node: ast.stmt, used: set[str]) -> bool:
    """Leave out of an import what is not used; return whether anything is left."""
    if isinstance(node, ast.ImportFrom) and node.module != "__future__":
        node.names = [alias for alias in node.names if (alias.asname or alias.name) in used]
        return bool(node.names)
    return True
