"""Hundreds of spellings of what is forbidden or unusual: each is seen by reading, and honest ones are not."""

from __future__ import annotations

import itertools

import pytest

from grader.judge.inspection import read
from grader.judge.report import Sight

# How a module comes by a name: statements, and the name that it has then.
_GIVEN = {
    "imported": ("import {module}", "{module}"),
    "imported as": ("import {module} as m", "m"),
    "imported from": ("from {parent} import {last} as m", "m"),
    "imported inside": ("", "__import__('{module}', fromlist=['a'])"),
    "imported by importlib": ("import importlib", "importlib.import_module('{module}')"),
    "everything imported": ("from {parent} import *", "{last}"),
    "assigned": ("import {module}\nm = {module}", "m"),
    "assigned twice": ("import {module}\nn = {module}\nm = n", "m"),
    "annotated": ("import {module}\nm: object = {module}", "m"),
    "by a walrus": ("import {module}\n(m := {module})", "m"),
    "in a tuple": ("import {module}\nm, n = {module}, 1", "m"),
    "in a list": ("import {module}\nl = [{module}]", "l[0]"),
    "in a table": ("import {module}\nd = dict(m={module})", "d['m']"),
    "in a class": ("import {module}\nclass A: m = [{module}][0]", "A.m"),
    "starred": ("import {module}\n*m, n = {module}, 1", "m[0]"),
    "in a loop": ("import {module}\nfor m in [{module}]: pass", "m"),
    "in a comprehension": ("import {module}", "[m for m in [{module}]][0]"),
    "matched": ("import {module}\nmatch {module}:\n    case m: pass", "m"),
    "under with": ("import {module}, contextlib\nwith contextlib.nullcontext({module}) as m: pass", "m"),
    "returned": ("import {module}\ndef give(): return {module}", "give()"),
    "by a lambda": ("import {module}", "(lambda: {module})()"),
    "as an argument": ("import {module}\ndef same(m): return m", "same({module})"),
    "shadowed elsewhere": ("import {module} as m\ndef other(m): return m", "m"),
    "shadowed by a method": ("import {module} as m\nclass A:\n    def m(self): return 1", "m"),
    "shadowed before": ("def m(): return 1\nimport {module} as m", "m"),
    "imported again inside": ("import {module} as m\ndef other():\n    import math as m", "m"),
    "imported inside before": ("def other():\n    import math as m\nimport {module} as m", "m"),
    "imported with another": ("from math import *\nfrom {parent} import *", "{last}"),
    "bound inside of another": ("from {parent} import *\ndef other():\n    {last} = 1", "{last}"),
    "by getattr": ("import {parent}", "getattr({parent}, '{last}')"),
    "by vars": ("import {parent}", "vars({parent})['{last}']"),
    "by its table": ("import {parent}", "{parent}.__dict__['{last}']"),
    "by all modules": ("import sys", "sys.modules['{module}']"),
    "by torch's all modules": ("import torch", "torch.sys.modules['{module}']"),
    "by globals": ("import {module} as m", "globals()['m']"),
    "by a global's function": ("import torch", "torch.relu.__globals__['{last}']"),
}
# How what is wanted is taken from the module.
_TAKEN = {
    "plainly": "{m}.{name}",
    "by getattr": "getattr({m}, '{name}')",
    "by a computed getattr": "getattr({m}, '{head}' + '{tail}')",
    "by vars": "vars({m})['{name}']",
    "by computed vars": "vars({m})['{head}' + '{tail}']",
    "by its table": "{m}.__dict__['{head}' + '{tail}']",
    "by its method": "{m}.__getattribute__('{head}' + '{tail}')",
    "by attrgetter": "__import__('operator').attrgetter('{name}')({m})",
    "by reduce": "__import__('functools').reduce(getattr, ['{name}'], {m})",
    "by eval": "eval('{m}' + '.{head}' + '{tail}')",
}
_WANTED = {
    "torch.nn.functional": ("torch.nn", "functional", "scaled_dot_product_attention"),
    "torch._C._nn": ("torch._C", "_nn", "scaled_dot_product_attention"),
}
# What no answer needs, in every place where a name can stand.
_UNUSUAL = {
    "ctypes": ("import {0}", "from torch import {0}", "import torch\nx = torch.{0}", "import torch as t\nx = t.nn.{0}"),
    "sys.modules": (
        "import torch\nx = torch.{0}",
        "from torch import sys as s\nx = s.modules",
        "import {0}",
        "import sys\nx = 'a' in {0} in B()",
        "import sys\nx = {0} in B()",
        "import sys\nx = 'a' in (m := {0})",
        "import warnings\nx = warnings.catch_warnings()._module.{0}",
        "import warnings\nw = warnings.catch_warnings()\nx = w._module.{0}['os']",
    ),
    "torch._jit_internal": (
        "from einops._backends import TorchBackend as B\nx = B().{0}",
        "from einops._backends import get_backend as b\nt = b(1).torch\nx = t._jit_internal",
        "class A:\n    def f(self): return self.{0}\nx = A()",
    ),
    "builtins.exec": (
        "import torch\nx = torch.{0}",
        "from torch import builtins as b\nx = b.exec",
        "import torch\nb = torch.builtins\nx = b.exec",
        "import torch\nx = [torch][0].{0}",
    ),
    "exec": ("x = {0}", "x = [{0}][0]", "x = lambda: {0}('1')", "def exec_(f={0}): f('1')\nx = exec_"),
    "eval": ("x = {0}", "x = {{'e': {0}}}", "class A:\n    def eval(self): pass\nx = {0}('1')"),
    "gc.get_objects": ("import torch\nx = torch.nn.modules.module.{0}", "from gc import get_objects as g\nx = g()"),
    "tb_frame": ("try: 1 / 0\nexcept Exception as e: x = e.__traceback__.{0}", "x = getattr(print, '{0}')"),
    "gi_frame": ("x = (i for i in [1]).{0}.f_back",),
    "ctypes.data": ("import numpy as np\nx = np.ones(1).{0}",),
    "sys._getframe": ("import threading\nx = threading._{0}(1)", "import random as r\nx = r._os.{0}"),
    "logging.currentframe": ("import logging\nx = {0}()",),
    "locals": ("def h(): pass\nx = {0}()['h' + '']", "l = {0}\nx = l()"),
    "vars": ("def h(): pass\nx = {0}()['h' + '']",),
    "gc": (
        "class A:\n    import {0} as g\nx = A.g.get_objects",
        "class A:\n    if 1:\n        import {0}\nx = A.gc.get_objects",
    ),
    "__globals__": ("x = (lambda: 1).{0}", "x = getattr(print, '{0}')"),
    "__self__": ("x = len.{0}.exec", "x = getattr(len, '{0}')"),
    "__subclasses__": ("x = ().__class__.__base__.{0}()", "x = object.{0}"),
    "__array_interface__": ("class A:\n    {0} = 1\nx = A()", "x = print.{0}"),
    "torch._C._te": ("import torch\nx = {0}", "from torch import _C as c\nx = c._te", "from torch._C import _te as x"),
    "torch.utils._mode_utils": (
        "import torch\nx = {0}.no_dispatch",
        "from {0} import no_dispatch as x",
        "import torch.utils as u\nx = u._mode_utils",
        "import unittest\ndef elsewhere(): import {0} as x\nx = 1",
    ),
    "torch.ExcludeDispatchKeyGuard": ("import torch\nx = {0}", "from torch import ExcludeDispatchKeyGuard as x"),
    "TorchDispatchMode": (
        "import torch.utils.checkpoint as c\nclass x(c.{0}): pass",
        "from torch.utils.flop_counter import {0} as x",
        "import torch\nx = torch.autograd.graph.{0}",
    ),
    "FunctionType": ("import dataclasses\nx = dataclasses.{0}",),
    "_operator": ("import {0}\nx = {0}.attrgetter", "from {0} import attrgetter as x"),
    "__array_interface__ in other places": (
        "class A:\n    def __array_interface__(self): return 1\nx = A()",
        "x = type('A', (), {{'__array_interface__': 1}})",
        "x = type('A', (), dict(__array_interface__=1))",
        "class A: pass\nsetattr(A, '__array_interface__', 1)\nx = A()",
    ),
    "tb_frame in a text": ("x = '{{0.tb_frame}}'", "x = 'a.__traceback__.tb_frame'"),
    "__setstate__": ("import numpy as np\nx = np.dtype('i8').{0}(1)",),
    "__reduce__": ("class A:\n    def {0}(self): return 1\nimport copy\nx = copy.copy(A())",),
    "torch.utils.cpp_extension": ("import {0}", "from torch.utils import cpp_extension as x", "import {0} as x"),
    "bytearray": ("x = {0}(4)", "import torch\nx = torch.asarray({0}(4))"),
    "torch.frombuffer": ("import torch\nx = {0}", "from torch import frombuffer as x"),
    "array.array": ("import array\nx = {0}", "from array import array as a\nx = a('d')"),
    "cdata": ("import torch\nx = torch.Tensor({0}=1)", "import torch\nx = torch.ones(1).new({0}=1)"),
    "allocator": ("import torch\nx = torch.UntypedStorage(8, {0}=1)",),
    "pickle.loads": ("import torch\nx = torch.serialization.{0}", "from pickle import loads as x"),
}
_HONEST = {
    "aliases": (
        "import torch\nfrom torch import nn\nF = torch.nn.functional\ndef attend(q): return F.relu(nn.Linear(2, 2)(q))"
    ),
    "a module as a default": "import torch.nn.functional as F\ndef attend(q, F=F): return F.relu(q)",
    "attributes named like modules": (
        "class A:\n    def f(self): return self.sys, self.time, self.copy, self._torch, self.numpy()\nx = A()"
    ),
    "a question to all modules": "import sys\nHERE = 'google.colab' in sys.modules\nx = 'IPython' not in sys.modules",
    "hasattr": "import torch\ndef attend(q): return q if hasattr(torch, 'compile') else torch.relu(q)",
    "getattr of oneself": (
        "class A:\n    def forward(self, x): return getattr(self, f'w_{x}')\ndef attend(q): return A().forward(q)"
    ),
    "a known attribute": "import torch\ndef attend(q): return getattr(torch, 'relu', None)(q)",
    "vars of oneself": (
        "class A:\n    def forward(self): return vars(self), self.__dict__\ndef attend(q): return A().forward()"
    ),
    "a parameter with a module's name": "import math\ndef helper(math): return [math]\ndef attend(q): return helper(q)",
    "a type": "import torch\ndef attend(q): return isinstance(q, torch.Tensor) and [torch.float64, torch.nn.Linear]",
    "special methods": (
        "class A:\n    def __init__(self): super().__init__()\n    def __len__(self): return 1\n"
        "def attend(q): return A().__len__(), A.__name__, type(q).__name__, A().__class__"
    ),
    "a type of torch's": (
        "from torch import nn\ndef load(theirs: 'nn.MultiheadAttention') -> None: pass\ndef attend(q): return q"
    ),
    "a time": (
        "import timeit\ndef attend(q): return q\n"
        "print(timeit.timeit('attend(1)', globals={'attend': attend}, number=1))"
    ),
    "a time under main": (
        "import timeit, doctest\ndef attend(q): return q\nif __name__ == '__main__':\n    doctest.testmod()"
    ),
    "a private name of torch.nn's": (
        "from torch import nn\ndef attend(q): return nn.init._calculate_fan_in_and_fan_out(q), q._private"
    ),
    "a copy of oneself": (
        "class A:\n    def __getstate__(self): return self.__dict__\n    def __setstate__(self, s): self.s = s\n"
        "    def copied(self): return super().__getstate__()\n    def __rpow__(self, x): return x\n"
        "def attend(q): return A().copied()"
    ),
    "functions as values": "import math\nimport torch\ndef attend(q): return [f(q) for f in (math.sqrt, torch.exp)]",
}


def _source(given: str, taken: str, module: str) -> str:
    parent, last, name = _WANTED[module]
    setup, m = (part.format(module=module, parent=parent, last=last) for part in _GIVEN[given])
    call = _TAKEN[taken].format(m=m, name=name, head=name[:9], tail=name[9:]).replace("eval('" + m, f"eval({m!r} '")
    return f"{setup}\n\ndef attend(q, k, v):\n    return {call}(q, k, v)\n"


@pytest.mark.parametrize("given", _GIVEN)
def test_every_spelling_of_a_forbidden_call_is_seen(given: str) -> None:
    """Whatever the module is called by, and however the call is taken from it: it is named, or worth a look."""
    sources = [_source(given, taken, module) for taken, module in itertools.product(_TAKEN, _WANTED)]
    for source in sources:
        compile(source, "spelling", "exec")

    assert [source for source in sources if not read(source, ("attention",), ("attend",))] == []


@pytest.mark.parametrize(("name", "form"), [(name, form) for name, forms in _UNUSUAL.items() for form in forms])
def test_every_spelling_of_what_no_answer_needs_is_seen(name: str, form: str) -> None:
    """In whatever part of a path it stands."""
    source = f"{form.format(name)}\n\ndef attend(q):\n    return x\n"
    compile(source, "spelling", "exec")

    clues = read(source, ("attention",), ("attend",))

    assert {clue.sight for clue in clues} == {Sight.UNUSUAL}, source


@pytest.mark.parametrize(
    "source",
    [
        "def attend(q, m=None):\n    import torch.nn.functional as m\n    return m.SDPA(q, q, q)",
        (
            "import torch.nn.functional as m, torch\ndef attend(q, m=1):\n"
            "    m = torch.nn.functional\n    return m.SDPA(q, q, q)"
        ),
        "def attend(q):\n    def m(): pass\n    import torch.nn.functional as m\n    return m.SDPA(q, q, q)",
        "import torch.nn.functional as m\ndef attend(q, f=m.SDPA): return f(q, q, q)\ndef m(): pass",
        (
            "import torch.nn.functional as m, torch\ndef m(): pass\n"
            "m = torch.nn.functional\ndef attend(q): return m.SDPA(q, q, q)"
        ),
        "import gc as m\ndef attend(q): return m.get_objects()\nattend(1)\ndef m(): pass",
        "".join(f"import torch.m{n} as m\n" for n in range(9))
        + "import gc as m\ndef attend(q): return m.get_objects()",
        "".join(f"from torch.m{n} import *\n" for n in range(9))
        + "from gc import *\ndef attend(q): return get_objects()",
        "from gc import *\ndef attend(q): return get_objects()",
    ],
)
def test_a_name_of_several_meanings_is_read_with_each(source: str) -> None:
    """A parameter, a function or an import of the same name further up or down does not hide what is imported."""
    source = source.replace("SDPA", "scaled_dot_product_attention")
    compile(source, "spelling", "exec")

    assert read(source, ("attention",), ("attend",)) != ()


@pytest.mark.parametrize("name", ["self", "cls", "itself", "mycls", "T"])
@pytest.mark.parametrize(
    "line", ["x = {0}._jit_internal", "x = {0}.utils._mode_utils", "{0}.exp = print", "{0}.x, {0}.exp = 1, print"]
)
@pytest.mark.parametrize("way", ["import torch as {0}\n{1}", "import torch\n{0} = torch\n{1}"])
def test_no_name_of_a_module_hides_what_is_done_to_it(name: str, line: str, way: str) -> None:
    """Whether a text is worth a parser is asked of its words: a module may have the name of an object's own self."""
    assert read(way.format(name, line.format(name)), ("attention",), ("attend",)) != ()


@pytest.mark.parametrize("source", _HONEST.values(), ids=_HONEST.keys())
def test_honest_ways_of_speaking_have_no_clue(source: str) -> None:
    """Modules are imported, renamed and asked for attributes in published code; nobody has to look at that."""
    assert read(source, ("attention",), ("attend",)) == ()


@pytest.mark.parametrize(
    "line",
    [
        "torch.Tensor.std = f",
        "torch.Tensor.std, torch.Tensor.mean = f, f",
        "T = torch.Tensor\nT.std = f",
        "setattr(torch.Tensor, 'std', f)",
        "del torch.Tensor.std",
        "type(torch.ones(1)).std = f",
        "torch.ones(1).__class__.std = f",
        "q.__class__ = f",
    ],
)
def test_replacing_what_is_a_librarys_is_seen(line: str) -> None:
    """Code of the grader runs beside a submission, and would use what was put there."""
    clues = read(f"import torch\nf = q = print\n{line}\n\ndef attend(q):\n    return q\n", ("attention",), ("attend",))

    assert [clue.what for clue in clues if clue.what.endswith("replaced")], line


def test_attributes_of_ones_own_may_be_set() -> None:
    """Gradients, weights, counters of one's own class, and settings of torch."""
    body = "self.w.data = x\n        type(self).n = 1\n        x.requires_grad = True\n        self.__class__.n = 2"
    source = f"import torch\ntorch.backends.mkldnn.enabled = False\nclass A:\n    def f(self, x):\n        {body}\n"

    assert read(f"{source}\ndef attend(q):\n    return A().f(q)\n", ("attention",), ("attend",)) == ()
