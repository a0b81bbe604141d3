"""The pytest plugin: `pytest solutions/causal_attention.py` grades that file, each check a test.

pytest never imports the file. Its tests come from the exercise, and the first one that runs sends the file to the
sandbox, once for all of them. A file elsewhere or of another name is graded by `pytest --exercise ID FILE`.

pytest loads this in every run, so nothing here brings torch before there is a file to grade.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from grader import local
from grader.checks.finding import Verdict
from grader.errors import AuthorError, GraderError, GraderFault, SandboxUnavailable
from grader.exercise.catalog import ROOT, Exercise
from grader.judge.report import CheckResult, Report, Status
from grader.judge.text import one_line

STARTER = "this is still the starter; write your answer into it, and run pytest again"
_TO_THE_MAIN_PROCESS = "exercise_reports"  # how the workers of pytest-xdist hand over what the summary needs


class DidNotPass(Exception):
    """A check failed; the text is the report's message."""


class Session:
    """What lasts for one run of pytest: the local grader, made when first needed, and the reports."""

    def __init__(self) -> None:
        self.reports: dict[str, Report] = {}

    @cached_property
    def grader(self) -> local.LocalGrader:
        """The local grader with its box, which takes a while to warm up."""
        return local.LocalGrader()

    def close(self) -> None:
        """Close the local grader if it was used."""
        if "grader" in self.__dict__:
            self.grader.close()
            gc.freeze()  # pytest's and Python's last searches for garbage would walk through all of torch


_SESSION = pytest.StashKey[Session]()


class GradedFile(pytest.File):
    """A file with an answer to the exercise called `exercise`."""

    def __init__(self, *, exercise: str, **node: Any) -> None:
        super().__init__(**node)
        self._name = exercise

    def collect(self) -> Iterator[ReportItem]:
        """Yield the checks that the exercise has, without running anything of the file; one item for the starter.

        Raises:
            CollectError: there is no such exercise, or it is written wrongly.
        """
        try:
            exercise = self._exercise
            if self._is_starter:
                yield ReportItem.from_parent(self, name="answer")
                return
            if not self.config.getoption("collectonly"):
                _ = self._session.grader  # it warms up from here on, while the import below does
            from grader.judge.sheet import draw_up

            items = draw_up(exercise, self._seed).items
        except local.WrongUse as error:
            raise self.CollectError(f"{error}; to name it yourself: pytest --exercise ID {self.path.name}") from error
        except AuthorError as error:
            raise self.CollectError(str(error)) from error
        for name in [item.name for item in items if item.points]:
            yield ReportItem.from_parent(self, name=name)

    @cached_property
    def outcome(self) -> Report | GraderError:
        """The report, or why there is none; the file runs when this is read for the first time."""
        from grader.judge.grade import grade  # here: it brings torch

        try:
            box = self._session.grader.box
            report = grade(self._exercise, local.read_file(self.path), seed=self._seed, box=box)
        except (GraderFault, local.WrongUse) as error:
            return error
        self._session.reports[self.nodeid] = report
        return report

    def result(self, name: str) -> CheckResult:
        """Return what came of the check called `name`.

        Raises:
            DidNotPass: the file could not be graded at all.
            GraderError: it could not be read, or something of ours broke.
        """
        if self._is_starter:
            raise DidNotPass(STARTER)
        outcome = self.outcome
        if isinstance(outcome, GraderError):
            raise outcome
        found = [check for check in outcome.checks if check.name == name]
        if not found:
            raise DidNotPass(f"{outcome.status}: {outcome.reason}")
        return found[0]

    @property
    def stopped(self) -> str:
        """Why the file did not come to its end, to put behind a message; empty if it did.

        Without this all checks of a file that ends its process would be skipped, and pytest would call that a success.
        """
        if isinstance(self.outcome, GraderError) or self.outcome.status is Status.GRADED:
            return ""
        return f" ({self.outcome.status}: {self.outcome.reason})"

    @cached_property
    def _is_starter(self) -> bool:
        try:
            return self._exercise.is_starter(local.read_file(self.path))
        except local.WrongUse:  # it cannot be read, which its first item says
            return False

    @cached_property
    def _exercise(self) -> Exercise:
        return local.find_exercise(self._name)

    @property
    def _session(self) -> Session:
        return self.config.stash[_SESSION]

    @property
    def _seed(self) -> int:
        seed: int = self.config.getoption("exercise_seed")
        return seed


class ReportItem(pytest.Item):
    """One check of an exercise."""

    parent: GradedFile

    def runtest(self) -> None:
        """Pass, fail or skip as the report says."""
        result = self.parent.result(self.name)
        self.user_properties += [("points", result.earned), ("points_possible", result.possible)]
        if result.status is Verdict.BROKEN:
            raise GraderFault(result.message)
        if result.status is Verdict.SKIPPED and not self.parent.stopped:
            pytest.skip(result.message)
        if result.status is not Verdict.PASSED:
            raise DidNotPass(f"{result.message}{self.parent.stopped}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message alone; a traceback through the grader would help nobody."""
        if isinstance(excinfo.value, (DidNotPass, local.WrongUse, SandboxUnavailable)):
            return str(excinfo.value)
        if isinstance(excinfo.value, GraderFault):
            return f"Sorry, this is our fault and not your code's: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return where the check is said to be: in the file, on no particular line."""
        return self.path, None, self.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the exercises."""
    group = parser.getgroup("attention exercises")
    group.addoption("--exercise", metavar="ID", help="grade the given file as an answer to this exercise")
    group.addoption(
        "--exercise-seed", metavar="N", type=int, default=local.SEED, help="what the tensors are drawn from, 0 or more"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare a run; refuses options that cannot be meant."""
    config.stash[_SESSION] = Session()
    name = config.getoption("exercise")
    try:
        local.check_seed(config.getoption("exercise_seed"))
        if name is not None:
            local.find_exercise(name)
    except (local.WrongUse, AuthorError) as refusal:
        raise pytest.UsageError(str(refusal)) from refusal
    if name is not None and config.args_source is not pytest.Config.ArgsSource.ARGS:
        raise pytest.UsageError(f"--exercise needs the file to grade: pytest --exercise {name} FILE")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the sandbox."""
    if _SESSION in config.stash:
        config.stash[_SESSION].close()


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> GradedFile | None:
    """Take a submission that is named on the command line, before pytest would import it."""
    if not parent.session.isinitpath(module_path):
        return None
    chosen: str | None = parent.config.getoption("exercise")
    if chosen is not None or module_path.stem in local.exercise_ids() or _is_solution(module_path, parent.config):
        return GradedFile.from_parent(parent, path=module_path, exercise=chosen or module_path.stem)
    return None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GradedFile | None:
    """Take the submissions in a folder of solutions; one that is named on the command line is taken above."""
    found = file_path.stem in local.exercise_ids() and _is_solution(file_path, parent.config)
    if found and not parent.session.isinitpath(file_path):
        return GradedFile.from_parent(parent, path=file_path, exercise=file_path.stem)
    return None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the reports of a worker to the main process."""
    output = getattr(session.config, "workeroutput", None)  # there in a worker of pytest-xdist only
    if output is not None:
        reports = session.config.stash[_SESSION].reports
        output[_TO_THE_MAIN_PROCESS] = {name: report.to_json() for name, report in reports.items()}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the reports of a worker."""
    handed_over = getattr(node, "workeroutput", {}).get(_TO_THE_MAIN_PROCESS, {})
    for name, text in handed_over.items():
        node.config.stash[_SESSION].reports[name] = Report.from_json(text)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> Iterator[None]:
    """Write the cause above the failures of the single checks, and below them what else a report says."""
    reports = config.stash[_SESSION].reports
    for name, report in reports.items():
        if cause := list(_cause(report)):
            terminalreporter.section(f"{one_line(name)}: the cause")
            for line in cause:
                terminalreporter.line(line)
    yield
    if reports and (beside := _run_beside(config)):
        terminalreporter.section("outside of the sandbox")
        terminalreporter.line(f"pytest has run or obeyed {beside}; for files of others use `attention-gym grade`")
    for name, report in reports.items():
        terminalreporter.section(f"{one_line(name)}: {report.score:g} of 100")
        for line in _summary(report):
            terminalreporter.line(line)


def _run_beside(config: pytest.Config) -> str:
    """Return which files pytest has taken as its own beside what was graded, but for those of this project."""
    modules = (getattr(plugin, "__file__", None) or "" for plugin in config.pluginmanager.get_plugins())
    own = [Path(file) for file in modules if Path(file).name == "conftest.py"] + [config.inipath]
    return ", ".join(sorted(one_line(str(path)) for path in own if path and path.parent != ROOT))


def _is_solution(path: Path, config: pytest.Config) -> bool:
    """Return whether a file lies where students keep their answers, and is no test of their own."""
    tests: list[str] = [*config.getini("python_files"), "conftest.py", "__init__.py"]
    return path.parent.name == local.FOLDER and not any(fnmatch(path.name, pattern) for pattern in tests)


def _cause(report: Report) -> Iterator[str]:
    if report.reason:
        yield f"{report.status}: {report.reason}"
    for likely in report.diagnosis:
        yield f"{'What happened' if likely.certain else 'What may have happened'}: {likely.title}"
        yield likely.message
    if report.location is not None and report.diagnosis:
        yield f"{report.location.title}."
    elif report.location is not None:
        yield from (f"Where it begins: {report.location.title}", report.location.message)


def _summary(report: Report) -> Iterator[str]:
    yield f"exercise {report.exercise}, seed {report.seed}, {report.device}, {report.box}"
    yield from _paragraph("Advice (costs no points)", report.advice)
    yield from _paragraph("Weights found", [f"{name}: {place}" for name, place in report.mapping.items()])
    yield from _paragraph("Your code printed", report.output.splitlines())


def _paragraph(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", title)
        yield from (f"  {line}" for line in lines)
