"""The texts of a pack that are the same for each exercise but for its name; `ID` and `TITLE` are filled in."""

from __future__ import annotations

README = """\
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

SETTINGS = """\
[pytest]
testpaths = test_ID.py
pythonpath = .
# A grader that is installed beside this pack keeps out of its way.
addopts = -p no:grader.pytest_plugin
disable_test_id_escaping_and_forfeit_all_rights_to_community_support = true
"""

SUMMARY = '''\
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

TEST = '''\
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
