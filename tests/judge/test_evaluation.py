"""The reader of sources reads all that Python evaluates while it imports a file, held against Python itself.

Every place of Python's grammar in which an expression or a statement can stand gets a call that notes that it was made.
The file is executed, and read: what was noted has to be read, and little else.
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.judge.inspection import read
from grader.judge.inspection.names import Names, unquote
from grader.judge.inspection.reach import reached

_ANSWER = "\ndef attend(q):\n    return q\n"
# Each construct of the language, so that all of it is evaluated at import; nothing has a name that anything else uses.
_FILES = {
    "classes": """
class Kept:
    def __init_subclass__(cls, **given): given['key'](cls)
class Unnamed(Kept, key=lambda cls: cls):
    value = 1
    class Inner(object): deep = [2]
    if value: other = 3
def wrap(f): return f
@wrap
class Decorated(metaclass=type): pass
""",
    "functions": """
def wrap(f): return f
@wrap
def unnamed(a: int, /, b: int = 1, *c: int, d: int = 2, **e: int) -> int: return 1
@wrap
async def also(a: int = 1) -> int: return 1
def called(x):
    def inner(y=1): return y
    local: int = 5
    return inner() + local
called(1)
class Stream:
    async def __aenter__(self): return self
    async def __aexit__(self, *_): pass
    def __aiter__(self): return self
    async def __anext__(self):
        if self.left: return self.left.pop()
        raise StopAsyncIteration
    left = [1]
    def __await__(self): return iter(())
async def waits():
    stream = Stream()
    async for stream.x in stream: pass
    else: x = 1
    async with Stream() as stream.y: pass
    return await stream.y
try: waits().send(None)
except StopIteration: pass
def gives():
    yield 1
    yield from [2]
list(gives())
lambda a=1, *, b=2: a
""",
    "statements": """
class Thing: pass
thing = Thing()
thing.x, thing.y = 1, 2
thing.x += 1
thing.z: int = 3
plain: int = 4
del thing.z
table = {'a': [1, 2, 3]}
table['b'] = 2
del table['b']
for thing.x in [1]: plain = 1
else: plain = 2
while plain > 1: plain -= 1
else: plain = 5
if plain == 5: plain = 6
elif plain: plain = 7
if plain == 0: plain = 1
else: plain = 8
assert plain, 'no'
try: assert False, 'why'
except AssertionError as error: plain = 1
try: plain = 2
except ValueError: pass
else: plain = 3
finally: plain = 4
try: raise KeyError('x') from ValueError('y')
except (KeyError, IndexError): pass
import contextlib
with contextlib.nullcontext(1) as thing.x, contextlib.nullcontext(2): plain = 5
try:
    raise ExceptionGroup('g', [ValueError()])
except* ValueError as group: plain = 6
try: plain = 7
except* ValueError: pass
else: plain = 8
finally: plain = 9
plain
""",
    "expressions": """
class Thing: pass
thing = Thing()
a, b, f = 1, 2, max
(a and b, a or b, not a, -a, a + b, a @ 1 if a is b else a * b)
(c := a)
[*range(3)], {1, 2}, {'k': a, **{'l': b}}, (a, b)
[1 for thing.x in range(3)], [x for x in range(3) if x > 1], {x for x in [1]}, {x: y for x, y in [(1, 2)]}
list(x + 1 for x in range(3) if x)
a < b <= 3 != 4
f(a, *[b], key=lambda v: v), (a if a else b), (a if not a else b)
f'{a!r:>{b}}' f'{b}'
[1, 2, 3][a:b:1], [1, 2, 3][0], 'x'.upper, b'x', ...
""",
    "patterns": """
class Point:
    __match_args__ = ('x',)
    x = 1
match Point():
    case 5: pass
    case [1, *rest]: pass
    case {'a': 1, **more}: pass
    case Point(2) | Point(x=3): pass
    case Point(1) as found if found.x: done = found
match {'a': 1}:
    case {'a': 1}: done = 1
match [1, 2]:
    case [1, 2]: done = 2
""",
    "a file that is not run by itself": """
if __name__ != '__main__': x = 1
if not __name__ == '__main__': x = 2
if __name__ == '__main__': pass
else: x = 3
if __name__ == '__main__' or len(__name__): x = 4
if len(__name__) and __name__ == '__main__': pass
elif __name__: x = 5
class Body:
    if __name__ == 'submission': x = 6
""",
}
_NEWER = """
type Alias[T: int] = list[T]
def generic[T: int](x: T) -> T: return x
class Generic[T: (int, str)]: pass
"""
# What is read although it was not evaluated, since that cannot be known, by the field that it stands in.
_MAYBE = {
    *{("Lambda", "body"), ("GeneratorExp", "elt"), ("comprehension", "ifs")},
    *{("If", "body"), ("IfExp", "body"), ("IfExp", "orelse"), ("ExceptHandler", "body"), ("match_case", "body")},
    *{("Assert", "msg"), ("AnnAssign", "annotation"), ("ExceptHandler", "type"), ("match_case", "guard")},
    *{("TypeAlias", "value"), ("TypeVar", "bound"), ("MatchMapping", "keys"), ("MatchValue", "value")},
}
# Fields of the grammar in which nothing is evaluated by itself, or that no file has.
_ELSEWHERE = {
    *{("Interactive", "body"), ("Expression", "body"), ("FunctionType", "argtypes"), ("FunctionType", "returns")},
    *{("JoinedStr", "values"), ("FormattedValue", "format_spec"), ("TemplateStr", "values")},  # parts of one text
    *{("NamedExpr", "target"), ("TypeAlias", "name"), ("TypeAlias", "value"), ("TypeVar", "bound")},
    *{("TypeVar", "default_value"), ("ParamSpec", "default_value"), ("TypeVarTuple", "default_value")},
    *{("Interpolation", "value"), ("Interpolation", "format_spec")},
}
_Slot = tuple[str, str]
# What Python calls by itself, of an object of a class: a method, what it gives, and what has it called.
_SPECIAL = {
    "__new__": ("object.__new__(C)", "C()"),
    "__init__": ("None", "C()"),
    "__del__": ("None", "del x"),
    "__repr__": ("''", "f'{x!r}'"),
    "__str__": ("''", "f'{x}'"),
    "__format__": ("''", "f'{x:a}'"),
    "__bytes__": ("b''", "bytes(x)"),
    "__bool__": ("True", "x and 1"),
    "__hash__": ("1", "{x: 1}"),
    "__eq__": ("True", "x == 1"),
    "__lt__": ("True", "sorted([x, x])"),
    "__contains__": ("True", "1 in x"),
    "__len__": ("1", "len(x)"),
    "__iter__": ("iter(())", "[*x]"),
    "__next__": ("1", "next(x)"),
    "__reversed__": ("1", "reversed(x)"),
    "__getitem__": ("1", "x[0]"),
    "__setitem__": ("1", "x[0] = 1"),
    "__delitem__": ("1", "del x[0]"),
    "__missing__": ("1", "class D(C, dict): pass\nD()[0]"),
    "__call__": ("1", "x()"),
    "__getattr__": ("1", "x.nothing"),
    "__getattribute__": ("1", "x.nothing"),
    "__setattr__": ("1", "x.a = 1"),
    "__delattr__": ("1", "del x.a"),
    "__dir__": ("()", "dir(x)"),
    "__enter__": ("1", "class D(C):\n def __exit__(self, *_): pass\nwith D(): pass"),
    "__exit__": ("1", "class D(C):\n def __enter__(self): pass\nwith D(): pass"),
    "__add__": ("1", "x + 1"),
    "__radd__": ("1", "1 + x"),
    "__iadd__": ("1", "x += 1"),
    "__neg__": ("1", "-x"),
    "__index__": ("0", "[1][x]"),
    "__int__": ("0", "int(x)"),
    "__round__": ("0", "round(x)"),
    "__get__": ("1", "class D: y = x\nD.y"),
    "__set__": ("1", "class D: y = x\nD().y = 1"),
    "__set_name__": ("1", "class D: y = x"),
    "__init_subclass__": ("1", "class D(C): pass"),
    "__class_getitem__": ("1", "C[0]"),
    "__mro_entries__": ("()", "class D(x): pass"),
    "__instancecheck__": ("1", "class D(C, type): pass\nclass E(metaclass=D): pass\nisinstance(1, E)"),
    "__prepare__": ("{}", "class D(metaclass=x): pass"),
    "__reduce_ex__": ("'x'", "import copy\ncopy.copy(x)"),
    "__copy__": ("1", "import copy\ncopy.copy(x)"),
    "__fspath__": ("''", "import os\nos.fspath(x)"),
    "__await__": ("iter(())", "async def f(): await x\ntry: f().send(None)\nexcept StopIteration: pass"),
}
# Other ways in which a function of no name that is used is called while a file is imported.
_UNNAMED = {
    "a decorator": "def call(f): f()\n@call\ndef hidden(): {0}",
    "a decorator with arguments": "def call(n):\n return lambda f: f()\n@call(1)\ndef hidden(): {0}",
    "a lambda as a decorator": "@lambda f: f()\ndef hidden(): {0}",
    "a property of Python's by another name": "property = lambda f: f()\n@property\ndef hidden(): {0}",
    "a library's decorator": "import timeit\n@timeit.timeit\ndef hidden(): {0}; raise SystemExit",
    "a decorator of a class": (
        "def call(c): [f() for n, f in vars(c).items() if n == 'hidd' + 'en']\n@call\nclass C:\n def hidden(): {0}"
    ),
    "a body": "class C: {0}",
    "a body in a body": "class C:\n class D:\n  class E: {0}",
    "a body that calls": "class C:\n def f(): {0}\n f()",
    "a decorator in a body": "class C:\n @lambda f: f(1)\n def hidden(self): {0}",
    "a metaclass": "class M(type):\n def __init__(cls, *a): {0}\nclass C(metaclass=M): pass",
    "a function as a metaclass": "def m(*a): {0}\nclass C(metaclass=m): pass",
    "a subclass": "class A:\n def __init_subclass__(cls): cls().hidden()\nclass B(A):\n def hidden(self): {0}",
    "a subclass, by any name": (
        "class A:\n def __init_subclass__(cls): getattr(cls(), 'hid' + 'den')()\nclass B(A):\n def hidden(self): {0}"
    ),
    "a library's hook": "import enum\nclass E(enum.Enum):\n A = 1\n def __init__(self, v): {0}",
    "a method that a library calls": (
        "import json\nclass J(json.JSONEncoder):\n def default(self, o): {0}; return 1\njson.dumps(object(), cls=J)"
    ),
    "a method by a computed name": (
        "import ast\nclass V(ast.NodeVisitor):\n def visit_Pass(self, n): {0}\nV().visit(ast.parse('pass'))"
    ),
    "a computed attribute": "class C:\n def hidden(self): {0}\ngetattr(C(), 'hid' + 'den')()",
    "a table of attributes": "class C:\n def hidden(): {0}\nvars(C)['hid' + 'den']()",
    "a format": "class C:\n @property\n def hidden(self): {0}\n'{{0.hidden}}'.format(C())",
    "a pattern": "class C:\n @property\n def hidden(self): {0}\nmatch C():\n case C(hidden=1): pass",
    "a pattern by position": (
        "class C:\n __match_args__ = ('hidden',)\n @property\n def hidden(self): {0}\nmatch C():\n case C(1): pass"
    ),
    "a stream": "class C:\n def write(self, t): {0}\nprint('a', file=C())",
    "an earlier function of the name": "def f(): {0}\nf()\ndef f(): pass",
    "an earlier class of the name": "class A:\n def __init__(self): {0}\nA()\nclass A: pass",
    "a function under if": "if 1:\n def f(): {0}\nf()",
    "a class under try": "try:\n class A:\n  def __init__(self): {0}\nfinally: pass\nA()",
    "a main that is not": "if __name__ != '__main__': {0}",
    "a main that is denied": "if not __name__ == '__main__': {0}",
    "something else than main": "if __name__ == '__main__': pass\nelse: {0}",
    "main or else": "if __name__ == '__main__' or 1: {0}",
    "a main that is set": "__name__ = '__main__'\nif __name__ == '__main__': {0}",
    "a main that a loop sets": "for __name__ in ['__main__']: pass\nif __name__ == '__main__': {0}",
    "a main of a class": "class C:\n __name__ = '__main__'\n if __name__ == '__main__': {0}",
    "a text in an annotation": "import typing\ndef f(x: '[{0}, int][1]'): pass\ntyping.get_type_hints(f)",
    "a text in a text": "import typing\ndef f(x: typing.Optional['[{0}, int][1]']): pass\ntyping.get_type_hints(f)",
    "a text for a timer": "import timeit\ntimeit.timeit('{0}', number=1, globals={{'hit': hit}})",
}
# Ways in which code is called that goes by a name of a library's choice, or by one that has another meaning by then.
_BY_OTHERS = {
    "a test": (
        "import unittest\nclass T(unittest.TestCase):\n def test(self): {0}\n"
        "for c in unittest.defaultTestLoader.loadTestsFromTestCase(T): c.debug()"
    ),
    "a part of all tests": (
        "import unittest\n@unittest.addModuleCleanup\ndef hidden(): {0}\nunittest.doModuleCleanups()"
    ),
    "a method of NumPy's": "import numpy\nclass C:\n def max(self, axis, out): {0}\nnumpy.amax(C())",
    "a method for arrays of objects": (
        "import numpy\nclass C:\n def conjugate(self): {0}\na = numpy.empty(1, object)\na[0] = C()\nnumpy.conj(a)"
    ),
    "a filter": (
        "import logging\nclass C:\n def filter(self, r): {0}\nl = logging.getLogger('x')\n"
        "l.addFilter(C())\nl.error('a')"
    ),
    "a file": "import io\nclass C:\n def readable(self): {0}; raise SystemExit\nio.BufferedReader(C())",
    "a caller of methods": (
        "import operator\nclass C:\n def hidden(self): {0}\noperator.methodcaller('hid' + 'den')(C())"
    ),
    "a decorator of torch's that is none": (
        "from torch import no_grad as wrap\nwrap = lambda f: f()\n@wrap\ndef hidden(): {0}"
    ),
    "a decorator of a package that is not here": (
        "try: import not_there as wrap\nexcept ImportError: wrap = lambda f: f()\n@wrap\ndef hidden(): {0}"
    ),
    "a test for main that is none": "__main__ = '__name__'\nif '__name__' == __main__: {0}",
}
_INNOCENT = {
    "a demonstration": "if __name__ == '__main__':\n    {0}",
    "a demonstration, turned round": "if '__main__' == __name__:\n    {0}",
    "a demonstration with a condition": "if __name__ == '__main__' and len('a'):\n    {0}",
    "a test": "import unittest, torch\n@torch.no_grad()\ndef test_it(): {0}",
    "a class of tests": (
        "import unittest\nclass TestIt(unittest.TestCase):\n    def setUp(self): {0}\n    def test_it(self): {0}"
    ),
    "a test of pytest's": "import pytest\n@pytest.mark.parametrize('a', [1])\ndef test_it(a): {0}",
    "a model to compare with": (
        "from torch import nn\nclass Theirs(nn.Module):\n    def __init__(self): {0}\n    def forward(self, x): {0}"
    ),
    "a method to compare with": (
        "class Own:\n    def __init__(self): self.compare = 0\n    def theirs(self): {0}\nOwn()"
    ),
    "a comment": "# {0}",
    "a docstring": "'{0}'",
}


class _Noting:
    """Has every place of a tree note that it was evaluated; `slots` says by number which place of the grammar it is."""

    def __init__(self) -> None:
        self.slots: list[tuple[_Slot, ...]] = []
        self.values: dict[str, ast.expr] = {}  # of the places in patterns, which take no call

    def instrument(self, node: ast.AST) -> None:
        """Change a tree in place."""
        for name, value in ast.iter_fields(node):
            slot = (type(node).__name__, name)
            if slot == ("If", "test") and "__name__ == '__main__'" in ast.unparse(value):
                continue  # in other words it would not be what it is
            if isinstance(value, list):
                value[:] = [self._placed(one, (slot,)) for one in value]
                if value and isinstance(value[0], ast.stmt):
                    value.insert(0, ast.Expr(self._note(self._number((slot,)), None)))
            elif isinstance(value, ast.AST):
                setattr(node, name, self._placed(value, (slot,)))

    def _placed(self, node: object, slots: tuple[_Slot, ...]) -> object:
        if not isinstance(node, ast.expr):
            if isinstance(node, ast.AST):
                self.instrument(node)
            return node
        if slots[-1] in {("MatchValue", "value"), ("MatchMapping", "keys"), ("MatchClass", "cls")}:
            name = f"n{self._number(slots)}"
            self.values[name] = node
            return ast.Attribute(ast.Name("_at", ast.Load()), name, ast.Load())
        is_part = slots[-1][0] in ("JoinedStr", "FormattedValue") and isinstance(node, ast.JoinedStr | ast.Constant)
        is_target = not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if is_part or is_target or isinstance(node, ast.Starred | ast.Slice | ast.FormattedValue):
            for name, value in ast.iter_fields(node):
                inner = (*slots, (type(node).__name__, name))
                if isinstance(value, list):
                    value[:] = [self._placed(one, inner) for one in value]
                elif isinstance(value, ast.expr):
                    setattr(node, name, self._placed(value, inner))
            return node
        number = self._number(slots)
        self.instrument(node)
        return self._note(number, node)

    def _number(self, slots: tuple[_Slot, ...]) -> int:
        self.slots.append(slots)
        return len(self.slots) - 1

    def _note(self, number: int, node: ast.expr | None) -> ast.expr:
        return ast.Call(ast.Name("_at", ast.Load()), [ast.Constant(number), *([node] if node is not None else [])], [])


class _Notes:
    """What a file calls as `_at`: it gives the value of a place, and keeps its number."""

    def __init__(self, values: dict[str, ast.expr], space: dict[str, object]) -> None:
        self.seen: set[int] = set()
        self._values, self._space = values, space

    def __call__(self, number: int, value: object = None) -> object:
        self.seen.add(number)
        return value

    def __getattr__(self, name: str) -> object:
        self.seen.add(int(name[1:]))
        return eval(ast.unparse(self._values[name]), self._space)


def _noted(source: str) -> tuple[str, _Noting]:
    tree = ast.parse(source)
    noting = _Noting()
    noting.instrument(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) + _ANSWER, noting


def _evaluated(source: str, noting: _Noting) -> set[int]:
    """Return the numbers of what Python evaluates in a file that is imported."""
    space: dict[str, object] = {"__name__": "submission"}
    notes = _Notes(noting.values, space)
    space["_at"] = notes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, "submission", "exec", dont_inherit=True), space)
        for value in [value for value in space.values() if value is not notes]:
            _ = getattr(value, "__annotations__", None)  # newer Pythons evaluate them when they are asked for
    return notes.seen


def _read(source: str, *, idle: bool = False) -> set[int]:
    """Return the numbers of what the reader reads in a file, or with all that nothing leads to."""
    tree = ast.parse(source)
    unquote(tree)
    found = set()
    for node, *_, is_idle in reached(tree, ["attend"], Names.of(tree)):
        if is_idle and not idle:
            break
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_at":
            found.add(ast.literal_eval(node.args[0]))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "_at":
            found.add(int(node.attr[1:]))
    return found


def _files() -> dict[str, str]:
    return {**_FILES, **({"newer": _NEWER} if sys.version_info >= (3, 12) else {})}


def _grammar() -> Iterator[_Slot]:
    """Yield every field of Python's grammar that holds expressions or statements, as the `ast` module has it."""
    waiting: list[type] = [ast.AST]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        inside = re.fullmatch(r"\w+\((.*)\)", (kind.__doc__ or "").replace("\n", " "), re.DOTALL)
        for written in inside[1].split(",") if inside else ():
            of, _, name = written.strip().partition(" ")
            if of.rstrip("*?") in ("expr", "stmt"):
                yield kind.__name__, name


@pytest.mark.parametrize("name", _files())
def test_what_python_evaluates_at_import_is_read(name: str) -> None:
    """In every place, and little else is: what no importing evaluates has no place in a report."""
    source, noting = _noted(_files()[name])

    evaluated, found = _evaluated(source, noting), _read(source)

    assert [noting.slots[number] for number in sorted(evaluated - found)] == [], source
    more = {noting.slots[number] for number in found - evaluated}
    around = {slots for slots in more if not _MAYBE.isdisjoint(slots)}
    assert not more or around, (more, source)


def test_every_place_of_the_grammar_is_tried() -> None:
    """All fields that Python's own list of its nodes has for expressions and statements."""
    tried: set[_Slot] = set()
    for source in _files().values():
        text, noting = _noted(source)
        tried.update(slot for number in _evaluated(text, noting) for slot in noting.slots[number])

    left = sorted(set(_grammar()) - tried - _ELSEWHERE)
    assert left == [], left


@pytest.mark.parametrize("name", _SPECIAL)
def test_what_python_calls_by_itself_is_read(name: str) -> None:
    """Every special method of a class of which there is an object, or a subclass."""
    given, trigger = _SPECIAL[name]
    static = name in ("__new__", "__prepare__") or name.startswith(("__init_sub", "__class_"))
    setup = f"class C:\n def {name}({'cls, ' if static else 'self, '}*a, **k):\n  _at(0)\n  return {given}\n"
    setup = setup.replace(" def", " @classmethod\n def") if name == "__class_getitem__" else setup
    source = f"{setup}x = C\nx = C()\n{trigger}\n" if name != "__prepare__" else f"{setup}x = C()\n{trigger}\n"

    assert _is_called(source), source
    assert _read(source + _ANSWER) == {0}, source


@pytest.mark.parametrize("name", _UNNAMED)
def test_what_is_called_without_being_named_is_read(name: str) -> None:
    """A function that nothing in the file names, or code that is no function, is evaluated at import all the same."""
    source = _UNNAMED[name].format("_at(0)" if "hit" not in _UNNAMED[name] else "hit(0)")

    assert _is_called(source), source
    assert 0 in _read(source.replace("hit(0)", "_at(0)") + _ANSWER), source


@pytest.mark.parametrize("name", _BY_OTHERS)
def test_what_others_call_is_read_at_last(name: str) -> None:
    """A library calls what it likes, and a name may mean something else by now: nothing but a demonstration is left."""
    source = _BY_OTHERS[name].format("_at(0)")

    assert _is_called(source), source
    assert 0 in _read(source + _ANSWER, idle=True), source


@pytest.mark.parametrize("name", _INNOCENT)
def test_what_no_import_evaluates_is_passed_over(name: str) -> None:
    """Comments, docstrings, tests, demonstrations, and what is there to be compared with."""
    source = _INNOCENT[name].format("_at(0)")

    assert _read(source + _ANSWER) == set(), source


def _is_called(source: str) -> bool:
    """Return whether Python calls `_at(0)` when it executes a file."""
    seen: list[object] = []
    space: dict[str, object] = {"__name__": "submission", "_at": seen.append, "hit": seen.append}
    try:
        exec(compile(source, "submission", "exec", dont_inherit=True), space)
    except (TypeError, AttributeError, SystemExit):  # some give what they must not; they were called
        pass
    space.clear()
    return seen[:1] == [0]


# Modules of Python's library with code that compiles or evaluates text: how that is asked for, or why it is harmless.
_RUNNING_TEXT = {
    "annotationlib": "annotationlib.ForwardRef('f()').evaluate()",
    "ast": "# makes a tree only",
    "bdb": "bdb.Bdb().run('f()')",
    "cProfile": "cProfile.run('f()')",
    "cgi": "# in a demonstration of its own",
    "code": "code.InteractiveInterpreter().runcode('f()')",
    "codeop": "codeop.compile_command('f()')",
    "collections": "# of names that it has checked",
    "dataclasses": "# of names that it has checked",
    "dis": "# compiles only",
    "doctest": "doctest.testmod()",
    "gettext": "gettext.c2py('f()')",
    "importlib": "importlib.util.find_spec('f')",
    "inspect": "inspect.get_annotations(f, eval_str=True)",
    "logging": "logging.config.fileConfig('f')",
    "modulefinder": "# compiles only",
    "multiprocessing": "# of names that it has checked",
    "optparse": "# reads a file, of which there is none",
    "pdb": "pdb.run('f()')",
    "pkgutil": "pkgutil.resolve_name('f')",
    "profile": "profile.run('f()')",
    "py_compile": "# compiles only",
    "pydoc": "pydoc.help('f')",
    "rlcompleter": "rlcompleter.Completer().attr_matches('f().a')",
    "runpy": "runpy.run_module('f')",
    "site": "# reads a file, of which there is none",
    "string": "# templates of its own",
    "timeit": "timeit.timeit(f + '()')",
    "trace": "trace.Trace().run('f()')",
    "turtle": "turtle.config_dict('f')",
    "typing": "typing.get_type_hints(f)",
    "unittest": "unittest.mock.create_autospec(f)",
    "zipimport": "zipimport.zipimporter('f')",
}
_NOT_LIBRARY = {
    "test",
    "tests",
    "site-packages",
    "idlelib",
    "lib2to3",
    "tkinter",
    "turtledemo",
    "ensurepip",
    "distutils",
}


def test_whatever_of_pythons_library_runs_text_is_worth_a_look() -> None:
    """Or is harmless; a module of another Python that is not in the list is one to look at."""
    root = Path(sysconfig.get_paths()["stdlib"])
    runs = re.compile(r"(?<![\w.])(?:builtins\.)?(?:exec|eval|compile)\(")
    found = set()
    places = [place for place in sorted(root.iterdir()) if place.name not in _NOT_LIBRARY]
    for path in [path for place in places for path in ([place] if place.suffix == ".py" else place.rglob("*.py"))]:
        inner = path.relative_to(root)
        text = path.read_text(encoding="utf-8", errors="replace") if _NOT_LIBRARY.isdisjoint(inner.parts) else ""
        if runs.search(text) and any(_runs_text(node) for node in ast.walk(ast.parse(text))):
            found.add(inner.parts[0].removesuffix(".py"))

    assert len(found) > 20
    assert found - _RUNNING_TEXT.keys() == set()
    for module, used in _RUNNING_TEXT.items():
        source = f"import {module}, logging.config, unittest.mock, importlib.util\ndef f(): pass\n{used}{_ANSWER}"
        lines = {clue.line for clue in read(source, ("attention",), ("attend",)) if clue.line == 3}
        assert bool(lines) != used.startswith("#"), used


def _runs_text(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.value.id == "builtins" and function.attr in ("exec", "eval", "compile")
    return isinstance(function, ast.Name) and function.id in ("exec", "eval", "compile")
