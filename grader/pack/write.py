"""Writes a pack: what a student needs to solve an exercise and to check the answer, and nothing that gives it away."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from grader.box.inline import observe_all
from grader.box.observations import Event, Observations
from grader.box.plan import Call, Plan
from grader.box.wire.answer import END, pack
from grader.box.wire.job import encode_job
from grader.checks.evidence import base_call, calling
from grader.exercise.catalog import Exercise
from grader.exercise.inputs import Case
from grader.judge.grade import observe_reference
from grader.judge.sheet import of_cases
from grader.pack.check import CASES, DATA, DECODE, EXPECTED, MANIFEST, ROUNDED, SPEC, Manifest

# The texts of a pack that are the same for each exercise but for its name; `ID`, `TITLE` and `WHEEL` are filled in.

_README = """\
# TITLE

This pack is graded by a program that you install once, from `WHEEL`, a file that lies in this folder or that you
were given with it; put it here first.

`statement.md` says what to build. Write it in `ID.py`, and see with pytest how far you are:

```
python -m venv .venv
.venv/bin/pip install -r requirements.txt
.venv/bin/pytest
```

(On Windows: `.venv\\Scripts\\pip` and `.venv\\Scripts\\pytest`.) One item of pytest is one line of the report. Where an
item fails it says what was expected, what was seen, and where; hints stand with the first one.

Your file runs in a plain subprocess, without a sandbox: it can do what you can do. `data/` stays as it is; what was
expected is in there as numbers, and how to get it is yours to find.
"""

_REQUIREMENTS = """\
# The file, and not a name: by a name pip takes what PyPI has, whoever has put it there, before a file in this folder.
./WHEEL
"""

_SETTINGS = """\
[pytest]
testpaths = test_ID.py
# One item a line of the report, and not those of the plugin that the grader brings.
addopts = -p no:grader.pytest_plugin --import-mode=importlib
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

from grader.errors import GraderFault
from grader.pack.check import read_pack

try:
    PACK = read_pack(Path(__file__).resolve().parent)
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
    data = _data(exercise, seed)
    wheel = f"attention_gym-{version('attention-gym')}-py3-none-any.whl"
    filled = {"ID": exercise.id, "TITLE": exercise.title, "WHEEL": wheel}
    texts = {
        "README.md": _README,
        "conftest.py": _SUMMARY,
        "pytest.ini": _SETTINGS,
        "requirements.txt": _REQUIREMENTS,
        f"test_{exercise.id}.py": _TEST,
    }
    for word, value in filled.items():
        texts = {name: text.replace(word, value) for name, text in texts.items()}
    return {
        **{name: text.encode() for name, text in texts.items()},
        "statement.md": exercise.statement.encode(),
        f"{exercise.id}.py": exercise.starter.encode(),
        f"{DATA}/{MANIFEST}": Manifest.of(exercise.id, seed, data).model_dump_json(indent=2).encode(),
        **{f"{DATA}/{name}": content for name, content in data.items()},
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
