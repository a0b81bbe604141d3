"""The house rules that a machine can check: who imports whom, how large things are, where dangerous things may be."""

from __future__ import annotations

import ast
import functools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.box.drivers import TRAVELLING

_ROOT = Path(__file__).parents[1]
_EXERCISES = sorted(path.parent.name for path in (_ROOT / "exercises").glob("*/exercise.toml"))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.With, ast.AsyncWith, ast.Match)

# For each contract on imports in pyproject.toml a module and an import that breaks it.
_WRONG_IMPORTS = {
    "imports go down the list": ("box/plan.py", "grader.exercise.spec"),
    "judging knows neither sandbox nor store": ("gate/contract.py", "grader.sandbox.runner"),
    "local grading knows no service": ("pack/paper.py", "grader.store.tables"),
    "the store knows of judging the report only": ("store/keys.py", "grader.checks.finding"),
    "no two modules import each other, nor any round of them": ("pages/wording.py", "grader.pages.server"),
    "nothing reads or writes objects that can run code": ("box/wire/job.py", "pickle"),
    "libraries of the pages": ("service/names.py", "fastapi"),
    "libraries of the command line": ("judge/text.py", "typer"),
    "the library of the store": ("service/names.py", "sqlalchemy"),
    "the library that delivers jobs, and the driver of its notices": ("jobs/table.py", "procrastinate"),
    "the library for migrations": ("jobs/claims.py", "alembic"),
    "libraries of the accounts": ("store/people.py", "argon2"),
    "the library for outside data": ("box/plan.py", "pydantic"),
    "libraries of exercises alone": ("store/tables.py", "safetensors"),
    "the library for spreadsheets": ("rules/roster.py", "python_calamine"),
    "the library for GPUs": ("sandbox/doctor.py", "pynvml"),
    "the library for tests": ("local.py", "pytest"),
    "the rules of a class know neither store nor clock": ("rules/times.py", "time"),
}


@functools.cache
def _trees() -> dict[str, ast.Module]:
    """Return every module, read; when a test asks and not before, since every worker collects every test."""
    paths = sorted((_ROOT / "grader").rglob("*.py"))
    names = [".".join(path.relative_to(_ROOT).with_suffix("").parts) for path in paths]
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in zip(names, paths, strict=True)}


@functools.cache
def _strings() -> dict[str, set[str]]:
    """Return every string constant with the modules that have it."""
    found: dict[str, set[str]] = {}
    for module, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.setdefault(node.value, set()).add(module)
    return found


def _part(module: str) -> str:
    """Return which part of the house a module belongs to: `grader.box.plan` to `box`."""
    return module.split(".")[1] if module.count(".") else ""


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _contracts(folder: Path) -> dict[str, str]:
    """Return whether the modules in `folder` keep each contract on imports, by its name."""
    program = "from importlinter.cli import lint_imports; lint_imports(no_cache=True, no_logo=True)"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=60)
    return dict(re.findall(r"^(.+?) (KEPT|BROKEN)\b", done.stdout, re.MULTILINE))


def test_imports_keep_the_contracts() -> None:
    """Each part imports only what stands below it, and each library stays in its place."""
    assert _contracts(_ROOT) == dict.fromkeys(_WRONG_IMPORTS, "KEPT")


def test_each_contract_on_imports_can_fail(tmp_path: Path) -> None:
    """With one wrong import for each, all of them are broken."""
    shutil.copy(_ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(_ROOT / "grader", tmp_path / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    for name, wrong in _WRONG_IMPORTS.values():
        with (tmp_path / "grader" / name).open("a", encoding="utf-8") as module:
            module.write(f"\nimport {wrong}\n")

    assert _contracts(tmp_path) == dict.fromkeys(_WRONG_IMPORTS, "BROKEN")


@pytest.mark.parametrize(
    "module", ["grader.box.wire.child", "grader.box.inline", "grader.sandbox.zygote", "grader.sandbox.interior"]
)
def test_nothing_that_knows_an_answer_is_loaded_where_submissions_run(module: str) -> None:
    """In a fresh process, importing it loads no reference, exercise, check, judge or store; nothing that travels."""
    program = f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    loaded = json.loads(done.stdout)
    hidden = ("reference", "exercises", "grader.exercise", "grader.checks", "grader.judge", "grader.store", *TRAVELLING)

    assert [name for name in loaded if name.startswith(hidden)] == []
    assert module in loaded


def _calls(tree: ast.Module, *names: str) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    ]


def test_code_is_executed_in_two_places_only() -> None:
    """The submission in the box; our own reference, with a step replaced, beside the exercises."""
    places = {module for module, tree in _trees().items() if _calls(tree, "exec", "eval", "compile")}

    assert places <= {
        "grader.box.wire.child",
        "grader.box.loading",
        "grader.exercise.mistakes",
        "grader.exercise.catalog",
    }


def test_the_environment_is_read_in_the_settings_only() -> None:
    """Whoever else wants a variable is handed a setting."""
    places = {
        module
        for module, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb", "putenv")
    }

    assert places <= {"grader.settings", "grader.search_path"}  # PYTHONPATH, before the settings can be imported


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS))


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function from `def` to its end, without its docstring."""
    first = function.body[0]
    told = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) and first.end_lineno else 0
    assert function.end_lineno
    return function.end_lineno - function.lineno + 1 - told


def test_functions_are_short() -> None:
    """At most 60 lines beside the docstring: what one takes in on a screen."""
    long = [
        f"{module}.{function.name}: {_length(function)} lines"
        for module, tree in _trees().items()
        for function in _functions(tree)
        if _length(function) > 60
    ]

    assert long == []


def test_modules_are_short() -> None:
    """At most 700 lines: one idea, however deep."""
    paths = ((path, len(path.read_text(encoding="utf-8").splitlines())) for path in (_ROOT / "grader").rglob("*.py"))

    assert [f"{path.relative_to(_ROOT)}: {lines}" for path, lines in paths if lines > 700] == []


def test_parameters_are_few() -> None:
    """At most four by position, `self` aside; the others by keyword."""
    crowded = []
    for module, tree in _trees().items():
        for function in _functions(tree):
            names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
            if len([name for name in names if name not in ("self", "cls")]) > 4:
                crowded.append(f"{module}.{function.name}: {', '.join(names)}")

    assert [line for line in crowded if not _is_a_form(line)] == []


def _is_a_form(line: str) -> bool:
    """Whether it is a command or a handler, whose parameters are the fields that a person fills in."""
    return line.startswith(("grader.cli", "grader.pages"))


def _depth(node: ast.AST) -> int:
    """Return how deep blocks are nested below `node`; functions within count for themselves."""
    inner = (child for child in ast.iter_child_nodes(node) if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)))
    return max((_depth(child) + isinstance(child, _BLOCKS) * (not _is_elif(node, child)) for child in inner), default=0)


def _is_elif(node: ast.AST, child: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]


def test_blocks_are_nested_three_deep_at_most() -> None:
    """What goes deeper deserves a function and a name."""
    deep = [
        f"{module}.{function.name}"
        for module, tree in _trees().items()
        for function in _functions(tree)
        if _depth(function) > 3
    ]

    assert deep == []


def _public(tree: ast.Module) -> Iterator[ast.AST]:
    for node in tree.body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and not node.name.startswith("_"):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from (f for f in node.body if isinstance(f, _FUNCTIONS) and not f.name.startswith("_"))


def test_everything_public_is_described() -> None:
    """A first line that is one sentence with a full stop, in modules, classes and functions."""
    silent = []
    for module, tree in _trees().items():
        for node in (tree, *_public(tree)):
            assert isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS))
            first = (ast.get_docstring(node) or "").partition("\n\n")[0]
            if not first.endswith((".", "?", ":")):
                silent.append(f"{module}.{getattr(node, 'name', '')}: {first}")

    assert silent == []


def _is_constant(node: ast.stmt) -> bool:
    """Whether a statement at module level is a definition, an import, or names a constant."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(isinstance(name, ast.Name) for target in targets for name in _leaves(target))
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef, *_FUNCTIONS))


def _leaves(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple) else [target]


def test_nothing_happens_at_import() -> None:
    """At module level there are imports, definitions and constants, and what only a type checker or `-m` runs."""
    busy = []
    for module, tree in _trees().items():
        for node in tree.body[1:] if ast.get_docstring(tree) else tree.body:
            guarded = isinstance(node, ast.If) and re.search(
                "TYPE_CHECKING|__name__|sys.platform", ast.unparse(node.test)
            )
            if not _is_constant(node) and not guarded:
                busy.append(f"{module}, line {node.lineno}: {ast.unparse(node)[:60]}")

    assert [line for line in busy if not line.startswith(("grader.__main__", "grader.store.migrations"))] == []


def test_no_two_modules_have_a_class_of_the_same_name() -> None:
    """Whoever reads a class's name knows which one is meant."""
    homes: dict[str, list[str]] = {}
    for module, tree in _trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)

    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_globals_are_never_reassigned() -> None:
    """State belongs to objects."""
    assert [m for m, tree in _trees().items() if any(isinstance(node, ast.Global) for node in ast.walk(tree))] == []


@pytest.mark.parametrize("exercise", [name for name in _EXERCISES if "_" in name])
def test_the_grader_knows_no_exercise_by_name(exercise: str) -> None:
    """An exercise is its folder and its reference; nothing else changes when one comes or goes.

    `causal_attention` is part of `multi_head_…`-like names nowhere in code, so whole words are looked for in strings.
    """
    naming = [module for module in _strings().get(exercise, ()) if not _is_an_operation(module)]

    assert naming == []


def _is_an_operation(module: str) -> bool:
    """Whether a module lists torch's own operations, of which some are called as exercises are."""
    return module == "grader.box.traps.groups"


def test_every_error_is_in_the_tree() -> None:
    """Below the faces and the sandbox's own probes, every exception says whose fault it is by its family."""
    roots = {"Exception", "BaseException"}
    strays = [
        f"{module}.{node.name}"
        for module, tree in _trees().items()
        if _part(module) in {"box", "exercise", "checks", "judge", "store", "jobs", "service", "gate", "examples"}
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        if {base.id for base in node.bases if isinstance(base, ast.Name)} & roots
    ]

    assert strays == []


def test_one_module_takes_keys_apart() -> None:
    """`case/variant` and `output:context` are put together and taken apart in `grader/box/keys.py` alone."""
    marks = ("/base", "output:", "input:", "weight:")

    assert {module for mark in marks for module in _strings().get(mark, ())} == {"grader.box.keys"}


_WORDS = 4  # of a name that needs no other sentence


def test_tests_are_sentences() -> None:
    """Each test's name is a sentence, or it has a docstring that is one; none uses mocks."""
    loose = []
    for path in sorted((_ROOT / "tests").rglob("*.py")):
        if "hostile" in path.parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        loose += [f"{path.name} imports {name}" for name in _imports(tree) if name.startswith("unittest")]
        for node in (tree, *(f for f in _functions(tree) if f.name.startswith("test_"))):
            told = (ast.get_docstring(node) or "").partition("\n\n")[0]
            is_sentence = getattr(node, "name", "").count("_") >= _WORDS
            if not told.endswith(".") and (told or not is_sentence):
                loose.append(f"{path.name}: {getattr(node, 'name', 'the module')}: {told}")

    assert loose == []


def test_every_exercise_has_its_files_and_its_examples() -> None:
    """A folder with its examples, and a reference, under one name."""
    for name in _EXERCISES:
        folder = _ROOT / "exercises" / name
        there = {path.name for path in folder.iterdir() if path.is_file()}
        assert {"exercise.toml", "statement.md", "starter.py", "mistakes.py"} <= there, name
        assert (folder / "examples").is_dir(), name
    references = {path.stem for path in (_ROOT / "reference").glob("*.py")} - {"__init__"}
    assert references == set(_EXERCISES)


def test_references_know_nothing_of_the_grader() -> None:
    """A reference is torch and Python alone, so it can be read and run by itself."""
    for path in sorted((_ROOT / "reference").glob("*.py")):
        tops = {name.split(".")[0] for name in _imports(ast.parse(path.read_text(encoding="utf-8")))}
        assert tops <= {"torch", "math", "__future__", "collections", "typing", "dataclasses"}, path.name
