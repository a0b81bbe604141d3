"""Traps for ready-made operations: in an exercise about attention, calling attention ends the call.

The traps sit in torch's dispatcher, below Python, in the place of every kernel that an operation has, so that
`getattr`, `torch.ops`, a saved reference or a profiler's detour reach them too. Where a ready-made answer is itself
composed of harmless operations, the code of the Python function is exchanged, so that whoever kept the function keeps a
trap. They hold for the life of the process; only a process that runs one submission installs them.

Code in this process can undo anything in this process. The traps raise the price; they are no wall.
"""

from __future__ import annotations

import functools
import gc
import importlib.util
import sys
import types
import warnings
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn, Protocol

from grader.box.traps.groups import BELOW, base, complete
from grader.box.traps.groups import GROUPS as GROUPS
from grader.box.traps.groups import Group as Group
from grader.box.traps.groups import check as check
from grader.box.traps.internals import Doors
from grader.box.traps.trapping import Alarm as Alarm
from grader.box.traps.trapping import Held, Vault, blank, erase, forget, found, hide
from grader.box.traps.trapping import Told as Told

_USUAL = "attention"  # forbidden in nearly every exercise, so it is trapped before the fork
_BELOW = "below"  # and so is what leads below the traps of any group


def prepare() -> None:
    """Do in the zygote what every child would have to do: trap the usual group, and find what the others need."""
    for name in (_USUAL, _BELOW):
        _armoury().arm(name)
        _armoury().stow(name)
    _armoury().end_imports()


def install(groups: tuple[str, ...], told: Told | None = None, noticed: Told | None = None) -> None:
    """Trap every operation of `groups` in this process, for good; a trapped call raises `ForbiddenCall`.

    Args:
        groups: by name.
        told: is called with the operation's name just before that.
        noticed: is called with what leads to Python's internals, just before it is let through.

    Raises:
        AuthorError: there is no such group.
    """
    _armoury().keep(complete(groups), told, noticed)


def tell_late() -> None:
    """Tell of a trapped call that could not be told when it happened; asked for outside of the submission's code."""
    _armoury().alarm.tell_late()


class _Traps(Protocol):
    """Traps that go up together."""

    def arm(self, alarm: Alarm) -> None: ...
    def stow(self) -> None: ...
    def lift(self) -> None: ...
    def settle(self) -> None: ...


class _Armoury:
    """The traps of this process: those that are up, and all that is needed to put up or take down one more."""

    def __init__(self) -> None:
        self.alarm = Alarm()
        self._doors = Doors()
        functions = Functions.find({**GROUPS, _BELOW: BELOW})
        self._traps: dict[str, tuple[_Traps, ...]] = {
            name: (Operators(group), functions[name]) for name, group in GROUPS.items()
        } | {_BELOW: (self._doors, Operators(BELOW), functions[_BELOW])}
        self._armed: set[str] = set()

    def arm(self, name: str) -> None:
        if name not in self._armed:
            for traps in self._traps[name]:
                traps.arm(self.alarm)
            self._armed.add(name)

    def stow(self, name: str) -> None:
        """Destroy what the traps of `name` replaced; it can still be put back."""
        for traps in self._traps[name]:
            traps.stow()

    def end_imports(self) -> None:
        """Take all that is imported from now on for a submission's."""
        self._doors.notices.imports = False

    def keep(self, names: frozenset[str], told: Told | None, noticed: Told | None) -> None:
        """Have the traps of `names` up, no others, and nothing left that could lift them."""
        wanted = names | {_BELOW} if names else names
        for name in sorted(wanted):
            self.arm(name)
        for name in self._armed - wanted:
            for traps in self._traps[name]:
                traps.lift()
        for name in wanted:
            for traps in self._traps[name]:
                traps.settle()
        if told is not None:
            self.alarm.told = told
        if wanted:
            self._doors.close(self.alarm)
            self._doors.notices.told = noticed


@functools.cache  # one for the process, as the dispatcher is
def _armoury() -> _Armoury:
    return _Armoury()


# These end at another kernel of the same operation, or give no numbers.
_HARMLESS = ("Meta", "Autocast", "ADInplaceOrView", "Functionalize", "NestedTensorHPU", "NestedTensorMeta")


class Operators:
    """The operations of one group: every overload in torch's registry that its family takes, in any namespace."""

    def __init__(self, group: Group) -> None:
        names = registered()
        taken = group.among({base(name) for name in names})
        called = {name: group.public(name) for name in names if base(name) in taken}
        self._kernels = [
            (name, key, called.get(name) or f"torch.{base(name).lstrip('_')} of a sparse, nested or quantized tensor")
            for name, key in _all_kernels()
            if name in called or group.covers(name, key)
        ]
        self._libraries: list[int] = []

    def arm(self, alarm: Alarm) -> None:
        """Cover the kernels."""
        import torch  # here and not above: whoever reads a specification needs the names of the groups only

        libraries: dict[str, Any] = {}
        traps = {called: alarm.trap(called) for _, _, called in self._kernels}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that a kernel is overridden: that is the point
            for name, key, called in self._kernels:
                space, _, operator = name.partition("::")
                if space not in libraries:
                    libraries[space] = torch._C._dispatch_library("IMPL", space, "", "", 0)
                libraries[space].impl(operator, key, traps[called])
        self._libraries += map(hide, libraries.values())

    def stow(self) -> None:
        """Do nothing: the kernels are machine code, which is nowhere but in torch's own files."""

    def lift(self) -> None:
        """Uncover them."""
        for address in self._libraries:
            found(address).reset()
        self._libraries.clear()

    def settle(self) -> None:
        """Give up the registrations: no object is left whose end, or whose `reset`, would undo them.

        They are immortal, and to forget where they lie is not enough: NumPy reads and writes any address.
        """
        for address in self._libraries:
            erase(address)
        self._libraries.clear()


def registered() -> list[str]:
    """Return the names of all operators that torch has now, with namespace and overload: `aten::softmax.int_out`."""
    import torch  # as above

    return torch._C._dispatch_get_all_op_names()


@functools.cache
def _all_kernels() -> tuple[tuple[str, str], ...]:
    """Return every kernel that could give numbers: its operation, and its dispatch key, an alias of several too."""
    import torch

    kernels = []
    for key in torch._C.DispatchKey.__members__:
        if not key.startswith(_HARMLESS):
            try:
                operations = torch._C._dispatch_get_registrations_for_dispatch_key(key)
            except RuntimeError:  # the name of a class of keys, and no key
                continue
            kernels += [(operation, key) for operation in operations]
    return tuple(kernels)


_METHODS = ("__init__", "forward")  # of a trapped class
_NUMBERLESS = (  # what says softmax here gives shapes, settings, graphs or plans; a kernel below them is trapped
    "torch._dynamo.", "torch._functorch.", "torch._guards.", "torch._meta_registrations.", "torch.backends.",
    "torch.distributed.tensor._ops.", "torch.onnx._internal.",
)  # fmt: skip


class Functions:
    """The Python functions of one group, in every copy that is about; and the modules that would bring more."""

    def __init__(
        self, functions: list[tuple[types.FunctionType, str]], modules: tuple[str, ...], uses: Mapping[int, int]
    ) -> None:
        """Take the functions, each with what a student calls it, and the names of modules that come late.

        `uses` says how many functions of this process have the code at an address: what decorators put around
        functions has one code for all of them, and has to stay.
        """
        self._functions = functions
        self._programs = array("Q", _programs([one for one, _ in functions], uses))  # addresses, of what is destroyed
        # What is not installed has a stand-in, which computes nothing.
        self._late = [name for name in modules if name not in sys.modules and _is_installed(name)]
        self._before = array("Q")  # addresses, in the order of the functions; to forget them frees no object
        self._vault: Vault | None = None

    @classmethod
    def find(cls, groups: Mapping[str, Group]) -> dict[str, Functions]:
        """Return those of each group.

        Decorators leave a function in several copies, and tables refer to some of them, so all functions of this
        process are gone through, and those of the same name taken.
        """
        functions = [thing for thing in gc.get_objects() if type(thing) is types.FunctionType]
        names = {_last(one) for one in functions if _gives_numbers(one.__module__ or "")}
        taken = {name: group.among(names) for name, group in groups.items()}
        listed = {name: list(_listed(group)) for name, group in groups.items()}
        wanted = frozenset[str]().union(*taken.values(), (_last(one) for rows in listed.values() for one, _ in rows))
        copies: dict[tuple[str | None, str], list[types.FunctionType]] = {}
        for one in functions:
            if _last(one) in wanted:
                copies.setdefault((one.__module__, one.__qualname__), []).append(one)
        families = _families(taken, copies)
        uses = Counter(id(one.__code__) for one in functions)
        return {
            name: cls(
                list(
                    {
                        id(copy): (copy, called)
                        for function, called in (*families[name], *listed[name])
                        for copy in [function, *copies.get((function.__module__, function.__qualname__), [])]
                    }.values()
                ),
                group.modules,
                uses,
            )
            for name, group in groups.items()
        }

    def arm(self, alarm: Alarm) -> None:
        """Exchange the code inside each function: whoever kept a reference to it, keeps a trap."""
        for function, called in self._functions:
            self._before.append(hide(function.__code__))
            function.__code__ = _code(alarm, called, function.__code__)
        for name in self._late:
            sys.modules[name] = _trapped_module(name, alarm)

    def stow(self) -> None:
        """Put what was there into a vault, and destroy it where it is: forks have no copy to find, nor to destroy."""
        self._vault = Vault(self._destroy())

    def lift(self) -> None:
        """Put their own code back."""
        assert self._vault is not None
        self._vault.restore()
        for (function, _), address in zip(self._functions, self._before, strict=True):
            function.__code__ = found(address)
        for name in self._late:
            sys.modules.pop(name, None)
        self.settle()

    def settle(self) -> None:
        """Destroy what was there before: nobody finds it, and who reads through all memory finds no program."""
        if self._vault is not None:
            self._vault.close()
        else:
            forget(self._destroy())
        del self._before[:]

    def _destroy(self) -> list[Held]:
        return [held for address in self._programs for held in blank(address)]


def _programs(functions: list[types.FunctionType], uses: Mapping[int, int]) -> Iterator[int]:
    """Yield the address of all code that these functions have for themselves, with the code inside of it."""
    codes = {id(one.__code__): one.__code__ for one in functions}
    own = Counter(id(one.__code__) for one in functions)
    for address, code in codes.items():
        if own[address] == uses[address]:
            yield address
            yield from _inner(code, uses)


def _inner(code: types.CodeType, uses: Mapping[int, int]) -> Iterator[int]:
    """Yield the address of the code of functions that `code` would make, without those that have been made."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and id(constant) not in uses:
            yield id(constant)
            yield from _inner(constant, uses)


def _families(
    taken: Mapping[str, set[str]], copies: Mapping[tuple[str | None, str], list[types.FunctionType]]
) -> dict[str, list[tuple[types.FunctionType, str]]]:
    return {
        name: [
            (functions[0], f"{module}.{path}")
            for (module, path), functions in copies.items()
            # A backward formula is given the result. Torch scripts some from their source, at the first use of `jvp`.
            if _last(functions[0]) in names and _gives_numbers(module or "") and "backward" not in path
        ]
        for name, names in taken.items()
    }


def _last(function: types.FunctionType) -> str:
    """Return the name of a function without those of the classes and functions around it."""
    return function.__qualname__.rpartition(".")[2]


def _gives_numbers(module: str) -> bool:
    return module.startswith("torch.") and not f"{module}.".startswith(_NUMBERLESS)


def _listed(group: Group) -> Iterable[tuple[types.FunctionType, str]]:
    for path in group.functions:
        if isinstance(function := _at(path), types.FunctionType):
            yield function, path
    for path in group.classes:
        own = vars(_at(path) or object)
        yield from ((own[name], path) for name in _METHODS if isinstance(own.get(name), types.FunctionType))


def _at(path: str) -> Any:
    """Return what is found at a dotted path, None where nothing is loaded."""
    names = path.split(".")
    place = next((size for size in range(len(names), 0, -1) if ".".join(names[:size]) in sys.modules), 0)
    thing: Any = sys.modules.get(".".join(names[:place]))
    for name in names[place:]:
        thing = vars(thing).get(name) if thing is not None else None
    return thing


def _code(alarm: Alarm, called: str, code: types.CodeType) -> types.CodeType:
    """Return code that takes anything and springs the trap, for a function that has `code` now."""
    return _template().replace(co_consts=(None, alarm.trap(called)), co_freevars=code.co_freevars)


def _template() -> types.CodeType:
    """Return the code of a function that calls its second constant, the first being its missing docstring."""

    def trapped(*_arguments: object, **_options: object) -> object:
        spring = ()
        return spring(*_arguments, **_options)  # type: ignore[operator]  # the constant is put in later

    assert trapped.__code__.co_consts == (None, ())
    return trapped.__code__


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec(name.partition(".")[0]) is not None


def _trapped_module(name: str, alarm: Alarm) -> types.ModuleType:
    """Return a module from which nothing can be taken; names that Python itself looks up are simply absent.

    It holds no object of ours: what is in it is anybody's.
    """
    module = types.ModuleType(name)

    def taken(attribute: str) -> NoReturn:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        alarm.trap(f"{name}.{attribute}")()
        raise AssertionError("a trap raises")

    vars(module)["__getattr__"] = taken
    return module
