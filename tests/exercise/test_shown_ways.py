"""Ways that are shown after full marks: a learner copies them, so each keeps to the rules of its statement."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.box.kinds import Kind
from grader.box.observe import default_dtype
from grader.box.plan import FUNCTIONS, Function
from grader.exercise.catalog import ROOT, Catalog
from grader.exercise.inputs import Case
from grader.exercise.labs.attention_patterns.lab import Reader
from grader.exercise.labs.weight_transfer.lab import LinearAttention, ParameterAttention
from grader.exercise.spec import PartSpec
from grader.pages.render import solutions_view
from grader.store.standings import FULL

CATALOG = Catalog.load()
CHOSEN = tomllib.loads((ROOT / "exercises" / "ways.toml").read_text(encoding="utf-8"))
WAYS = [(id, name) for id, names in CHOSEN.items() for name in names]
EVERY_WAY = pytest.mark.parametrize(("id", "name"), WAYS)
LENGTHS = range(2, 41)
COMPACT = 25
LONG = {
    "attention_seq2seq": "a whole model: an encoder and a decoder, each with attention",
    "compare_variants": "three kinds of attention, two of them modules",
}
NUMBERS = {"attention_patterns": "names depend on the numbers, which tensors without memory have not"}
FACTORIES = frozenset(
    [
        *("arange", "as_tensor", "empty", "eye", "from_numpy", "full", "linspace", "ones", "rand", "randn", "tensor"),
        *("tril_indices", "triu_indices", "zeros"),
    ]
)
FINITE_FILL = re.compile(r"finfo|-\s*(?:[\d.]*\de\d|\d{4})")
ARTEFACTS = re.compile(r"^\s*(?:[%!]|# ?(?:In ?\[|%%|coding|!/|TODO)|get_ipython)|noqa|type: ignore", re.MULTILINE)
LARGEST = 2000  # numbers in an argument: larger cases are about memory, and take longer


def path_of(id: str, name: str) -> Path:
    """Return where a way is written."""
    return CATALOG[id].folder / "examples" / f"{name}.py"


def source_of(id: str, name: str) -> str:
    """Return a way as it is written."""
    return path_of(id, name).read_text(encoding="utf-8")


def lines_of_code(source: str) -> int:
    """Count the lines that hold more than blanks, a comment or a part of a docstring."""
    described = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, described) and ast.get_docstring(node)]
    texts = {line for node in nodes for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    lines = enumerate(source.splitlines(), 1)
    return sum(bool(line.split("#")[0].strip()) and number not in texts for number, line in lines)


def defined(id: str, name: str) -> Mapping[str, Any]:
    """Return what a way defines."""
    namespace: dict[str, Any] = {"__name__": name}
    exec(compile(source_of(id, name), name, "exec", dont_inherit=True), namespace)
    return namespace


def written(name: str, function: Callable[..., Any]) -> str:
    """Return the head of a function without types, as tables of statements write it."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    return f"{name}{inspect.Signature([p.replace(annotation=p.empty) for p in parameters])}"


def heads_of(part: PartSpec, namespace: Mapping[str, Any]) -> list[str]:
    """Return the head of an entry point, or those of a module's constructor and `forward`."""
    entry = namespace[part.entry.name]
    if not isinstance(entry, type):
        return [written(part.entry.name, entry)]
    return [written(part.entry.name, entry.__init__), written("forward", entry.forward)]


@cache
def small_cases(id: str) -> tuple[tuple[PartSpec, Case], ...]:
    """Return small cases whose values are compared, with what they are about.

    One is enough of those that differ in sizes and numbers alone.
    """
    spec, found = CATALOG[id].spec, {}
    compared = (check for check in spec.checks if check.check in ("values", "labels") and check.points)
    valued = {name for check in compared for name in check.cases}
    for case in spec.cases:
        part = spec.part_of(case)
        if case.name not in valued or part.entry.kind is Kind.TRAIN:
            continue
        made = CATALOG[id].draw(case, 0)
        given = {**made.construct, **made.arguments}
        if all(value.numel() <= LARGEST for value in tensors(given)):
            found.setdefault((case.part, *(f"{name} {kind_of(value)}" for name, value in given.items())), (part, made))
    return tuple(found.values())


def kind_of(value: Any) -> Any:
    """Return what may decide which way a program goes: the shape's length, a word, true or false, or the type."""
    if isinstance(value, Tensor):
        return value.dtype, value.dim()
    return value if isinstance(value, bool | str) else type(value)


def tensors(value: Any) -> list[Tensor]:
    """Return the tensors in nested values."""
    if isinstance(value, Tensor):
        return [value]
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [tensor for item in inside for tensor in tensors(item)]


def moved(value: Any, device: str, dtype: torch.dtype) -> Any:
    """Return an argument on a device; what is floating point, in a dtype."""
    if isinstance(value, Function):
        return FUNCTIONS[value.name]
    if not isinstance(value, Tensor):
        return value
    return value.to(device, dtype if value.is_floating_point() else value.dtype, copy=True)


def ready(part: PartSpec, case: Case, namespace: Mapping[str, Any], device: str, dtype: torch.dtype) -> Any:
    """Return the call of an entry point, by the names of the statement, with all that it is given on one device."""
    entry, driver = namespace[part.entry.name], part.entry.driver
    given = {name: moved(value, device, dtype) for name, value in case.arguments.items() if name != "names"}
    sizes: dict[str, Any] = {**case.construct}
    if driver == "weight_transfer.Transfer":
        pair = [make(**sizes).to(device, dtype) for make in (LinearAttention, ParameterAttention)]
        return lambda: (entry(source=pair[0], target=pair[1]), list(pair[1].parameters())), []
    if driver == "attention_patterns.Hooks":
        looked_into = Reader(**sizes).to(device, dtype)
        return lambda: entry(model=looked_into, tokens=given["tokens"]), [given["tokens"]]
    if driver == "kv_cache.Decode":
        module = entry(**sizes).to(device, dtype)
        return lambda: decoded(module, given["x"], case.arguments["chunks"]), [given["x"]]
    if isinstance(entry, type):
        entry = entry(**sizes).to(device, dtype)
    return lambda: entry(**given), tensors(given)


def decoded(module: nn.Module, x: Tensor, chunks: Tensor | None) -> list[Tensor]:
    """Return the outputs for the chunks of `x`, each with the cache of the call before."""
    cache, outputs = None, []
    for part in x.split([n for n in chunks.tolist() if n] if chunks is not None else [x.shape[1]], dim=1):
        output, cache = module(x=part, cache=cache)
        outputs.append(output)
    return outputs


class Elsewhere(TorchDispatchMode):
    """Notes the operations whose results are not on the `meta` device."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and look at what comes out; a number of no axes may be anywhere."""
        result = func(*args, **(kwargs or {}))
        self.found += [f"{func}" for tensor in tensors(result) if tensor.dim() and tensor.device.type != "meta"]
        return result


class Unplaced(TorchFunctionMode):
    """Notes the calls that make a tensor and do not say where."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.found: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run a call, and look at how it was written."""
        if getattr(func, "__name__", "") in FACTORIES and "device" not in (kwargs or {}):
            self.found.append(func.__name__)
        return func(*args, **(kwargs or {}))


@EVERY_WAY
def test_a_way_is_short(id: str, name: str) -> None:
    """Nobody copies forty lines; whole models are longer, and say why."""
    assert id in LONG or lines_of_code(source_of(id, name)) in LENGTHS


def test_no_excuse_is_left_over() -> None:
    """What is excused from being short is shown, and is long."""
    long = {id for id, name in WAYS if lines_of_code(source_of(id, name)) not in LENGTHS}

    assert long == set(LONG)


@pytest.mark.parametrize("id", CHOSEN)
def test_a_compact_answer_stands_before_the_reference(id: str) -> None:
    """Who has full marks sees one short answer as a whole, and then the steps; a whole model may be longer."""
    shown = solutions_view(CATALOG, CATALOG[id], {id: FULL})
    assert shown is not None
    first, second, *_ = shown["ways"]

    assert [first["title"]] == [*CHOSEN[id].values()][:1]
    assert "reference" in second["title"]
    assert id in LONG or lines_of_code(first["code"]) <= COMPACT
    assert lines_of_code(first["code"]) < lines_of_code(second["code"])


@EVERY_WAY
def test_a_way_defines_and_does_nothing_else(id: str, name: str) -> None:
    """No demonstration, nothing printed, no leftover of a notebook or of a tool, and only letters that English has."""
    source = source_of(id, name)
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
    body = ast.parse(source).body[bool(ast.get_docstring(ast.parse(source))) :]
    other = [ast.unparse(node) for node in body if not isinstance(node, kinds)]
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]

    assert other == []
    assert [call.id for call in calls if isinstance(call, ast.Name) and call.id in ("print", "display", "input")] == []
    assert source.isascii()
    assert ARTEFACTS.findall(source) == []


def test_all_ways_are_written_as_ruff_wants_them() -> None:
    """No import without use, in the usual order and layout; no name that is given a value and never read."""
    paths = [str(path_of(id, name)) for id, name in WAYS]
    ruff = [sys.executable, "-m", "ruff"]
    settings = ["--isolated", "--no-cache", "--target-version=py311", "--line-length=120"]
    checks = ["check", "--select=F,E,I,UP,B", "--output-format=concise"]
    linted = subprocess.run([*ruff, *checks, *settings, *paths], capture_output=True, text=True, check=False)
    layout = subprocess.run(
        [*ruff, "format", "--check", *settings, *paths], capture_output=True, text=True, check=False
    )

    assert linted.stdout.splitlines() == ["All checks passed!"]
    assert [line for line in layout.stdout.splitlines() if line.startswith("Would")] == []


@EVERY_WAY
def test_a_way_has_the_names_of_the_statement(id: str, name: str) -> None:
    """Function, constructor and `forward` take the arguments that the statement lists, with the same defaults."""
    spec, namespace = CATALOG[id].spec, defined(id, name)
    heads = [head for part in (spec, *spec.parts.values()) for head in heads_of(part, namespace)]

    assert [head for head in heads if f"`{head}`" not in CATALOG[id].statement.replace('"', "'")] == []


@EVERY_WAY
def test_a_way_hides_with_minus_infinity(id: str, name: str) -> None:
    """What is hidden gets -inf, as the statements say, and no number that merely is low."""
    code = "\n".join(line.split("#")[0] for line in source_of(id, name).splitlines())

    assert FINITE_FILL.findall(code) == []


@EVERY_WAY
def test_a_way_trains_what_the_reference_trains(id: str, name: str) -> None:
    """A module has as many parameters as the reference's: no bias that the exercise does not have."""
    namespace, reference = defined(id, name), CATALOG[id].reference()()
    for part, case in small_cases(id):
        if isinstance(namespace[part.entry.name], type):
            made = [entry[part.entry.name](**case.construct) for entry in (namespace, reference)]
            counts = [sum(parameter.numel() for parameter in module.parameters()) for module in made]
            assert counts[0] == counts[1], case.name


@EVERY_WAY
@pytest.mark.parametrize(("default", "dtype"), [("float64", "float32"), ("float32", "float64")])
def test_a_way_keeps_the_dtype_and_the_arguments(id: str, name: str, default: str, dtype: str) -> None:
    """Results have the inputs' dtype, whatever torch's default is, or that default if no input has one."""
    namespace = defined(id, name)
    with default_dtype(default):
        for part, case in small_cases(id):
            call, given = ready(part, case, namespace, "cpu", getattr(torch, dtype))
            before = [tensor.clone() for tensor in given]
            returned = call()
            results = [tensor.dtype for tensor in tensors(returned) if tensor.is_floating_point()]
            floating = case.construct or any(tensor.is_floating_point() for tensor in given)
            assert set(results) <= {getattr(torch, dtype if floating else default)}, case.name
            assert all(torch.equal(*pair) for pair in zip(given, before, strict=True)), case.name
            assert isinstance(returned, tuple) or len(part.returns) == 1 or part.entry.kind is Kind.INSPECT, case.name


@pytest.mark.parametrize("name", CHOSEN["rotary_encoding"])
def test_a_way_turns_half_precision_too(name: str) -> None:
    """The statement of rotary positions speaks of bfloat16."""
    turn = defined("rotary_encoding", name)["apply_rotary"]
    x = torch.randn(1, 2, 3, 4)
    turned = turn(x.bfloat16(), offset=300)

    assert turned.dtype is torch.bfloat16
    torch.testing.assert_close(turned.float(), turn(x, offset=300), rtol=0.0, atol=0.05)


@EVERY_WAY
def test_a_way_makes_its_tensors_where_the_inputs_are(id: str, name: str) -> None:
    """On tensors of the `meta` device nothing comes from elsewhere; where numbers are needed, calls say the device."""
    namespace = defined(id, name)
    device = "cpu" if id in NUMBERS else "meta"
    for part, case in small_cases(id):
        call, given = ready(part, case, namespace, device, torch.float32)
        with Unplaced() if id in NUMBERS else Elsewhere() as noted:
            call()
        assert noted.found == [] or not (given or case.construct), case.name
