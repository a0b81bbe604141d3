"""Hands the contract's arguments to the student's function under the names that it uses.

Exact names first, then aliases within the contract's own groups. What is left over is bound by position where as many
parameters are left, unless a name says that it is something else; so is the one argument of a function, and a lone
tensor among scalars. `**kwargs` receives canonical names, once every parameter that needs a value has one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from inspect import Parameter
from types import FunctionType, MethodType
from typing import Any

from torch import Tensor

from grader.box.aliases import CONVENTIONS, TELLING, WORDS, argument_names
from grader.box.among_extras import by_defaults
from grader.box.plan import Argument, Scalar
from grader.errors import ArgumentMismatch

_SELF = (
    "{described} has no `self`: `self` must be the first parameter of every method, before `{first}`; "
    "without it Python takes `{first}` for the object itself"
)


def call_with(
    function: Callable[..., Any],
    given: Mapping[str, Argument],
    *,
    order: tuple[str, ...],
    defaults: Mapping[str, Scalar],
    described: str,
) -> Any:
    """Call `function` with the arguments `given` by canonical name and return what it returns.

    Args:
        order: the contract's arguments, in its order.
        defaults: the contract's default values.
        described: what the function is called in messages.

    Raises:
        ArgumentMismatch: the function lacks an argument that is given and differs from its default.
        Anything that `function` raises.
    """
    parameters = _parameters(function)
    if parameters is None or _takes_anything(parameters):
        return function(*_in_order(given, order=order, defaults=defaults))
    if len(given) == 1 and (single := _only_parameter(parameters)) is not None:
        return _call_single(function, single, *given.values())
    try:
        arguments = _match(parameters, given, order=order, defaults=defaults, described=described)
    except ArgumentMismatch as error:
        if first := _in_place_of_self(function, order):
            raise ArgumentMismatch(_SELF.format(described=described, first=first)) from error
        raise
    positional = [
        arguments.pop(p.name) for p in parameters if p.kind is Parameter.POSITIONAL_ONLY and p.name in arguments
    ]
    return function(*positional, **arguments)


def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...] | None:
    inner = getattr(function, "__wrapped__", None)
    try:
        if type(inner) is MethodType and type(inner.__func__) is FunctionType:
            return _of_method(inner.__func__)
        if type(function) is type:
            return _of_class(function)
        if type(function) is FunctionType and inner is None:
            return _of_function(function)
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return None


def _in_place_of_self(function: Callable[..., Any], order: tuple[str, ...]) -> str:
    """Return the first parameter of a method or a constructor if it is one of the contract's; else nothing."""
    method = getattr(function, "__wrapped__", function)
    own = vars(function).get("__init__") if isinstance(function, type) else getattr(method, "__func__", None)
    first = own.__code__.co_varnames[:1] if type(own) is FunctionType and own.__code__.co_argcount else ()
    return next((name for name in first if any(name in argument_names(one) for one in order)), "")


@lru_cache(maxsize=64)
def _of_method(function: FunctionType) -> tuple[Parameter, ...]:
    """Return the parameters of a method without the first; a plan calls the same few methods again and again."""
    return tuple(inspect.signature(function.__get__(object())).parameters.values())


@lru_cache(maxsize=64)
def _of_function(function: FunctionType) -> tuple[Parameter, ...]:
    """Return the parameters of a function that stands for itself."""
    return tuple(inspect.signature(function).parameters.values())


@lru_cache(maxsize=64)
def _of_class(kind: type) -> tuple[Parameter, ...]:
    """Return the parameters of a class; a plan makes a dozen modules of the same few classes."""
    return tuple(inspect.signature(kind).parameters.values())


def forget() -> None:
    """Forget the functions and classes that were looked at, which are kept alive with whatever they belong to."""
    _of_method.cache_clear()
    _of_function.cache_clear()
    _of_class.cache_clear()


def _takes_anything(parameters: tuple[Parameter, ...]) -> bool:
    """Whether the signature starts with `*args`: then only positions say what is what."""
    return bool(parameters) and parameters[0].kind is Parameter.VAR_POSITIONAL


def _in_order(
    given: Mapping[str, Argument], *, order: tuple[str, ...], defaults: Mapping[str, Scalar]
) -> list[Argument]:
    """Return the arguments up to the last one given, with defaults where one in between is left out."""
    last = max((order.index(name) for name in given), default=-1)
    return [given.get(name, defaults.get(name)) for name in order[: last + 1] if name in given or name in defaults]


def _only_parameter(parameters: tuple[Parameter, ...]) -> Parameter | None:
    plain = [p for p in parameters if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
    required = [p for p in plain if p.default is Parameter.empty]
    if len(required) == 1:
        return required[0]
    return plain[0] if plain and not required else None


def _call_single(function: Callable[..., Any], parameter: Parameter, value: Argument) -> Any:
    if parameter.kind is Parameter.KEYWORD_ONLY:
        return function(**{parameter.name: value})
    return function(value)


def _match(
    parameters: tuple[Parameter, ...],
    given: Mapping[str, Argument],
    *,
    order: tuple[str, ...],
    defaults: Mapping[str, Scalar],
    described: str,
) -> dict[str, Argument]:
    named = {p.name: p for p in parameters if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)}
    open_ended = any(p.kind is Parameter.VAR_KEYWORD for p in parameters)
    places = _places(named, given, order, defaults, open_ended=open_ended)
    arguments: dict[str, Argument] = {}
    for name in order:
        found = places.get(name)
        if name in given and found:
            arguments[found] = given[name]
        elif name in given and not open_ended and not _is_default(name, given[name], defaults):
            raise ArgumentMismatch(_lacking(name, described, tuple(named), order))
        elif found and name in defaults and named[found].default is Parameter.empty:
            arguments[found] = defaults[name]
    _expect_complete(arguments, named, described=described, order=order)
    return arguments | ({name: given[name] for name in given if name not in places} if open_ended else {})


def _expect_complete(
    arguments: Mapping[str, Argument], named: Mapping[str, Parameter], *, described: str, order: tuple[str, ...]
) -> None:
    """Refuse a function that needs more than there is; nothing of ours is for its `**kwargs` then.

    Raises:
        ArgumentMismatch: it does.
    """
    lacking = [name for name, p in named.items() if p.default is Parameter.empty and name not in arguments]
    if lacking:
        takes, gives = (", ".join(f"`{name}`" for name in names) for names in (named, order))
        what = ", ".join(f"`{name}`" for name in lacking)
        raise ArgumentMismatch(
            f"{described} needs {what}, which is not provided: it takes {takes}; provided are {gives}"
        )


def _places(
    named: Mapping[str, Parameter],
    given: Mapping[str, Argument],
    order: tuple[str, ...],
    defaults: Mapping[str, Scalar],
    *,
    open_ended: bool,
) -> dict[str, str]:
    """Return the parameter for each argument of the contract: by its names, and where the number fits by position.

    Parameters of the author's own, which have defaults, may be among the others.
    """
    places = {name: found for name in order if (found := _find(name, named, order))}
    tensors = [name for name, value in given.items() if isinstance(value, Tensor)]
    lonely = len(tensors) == 1 and tensors[0] not in places and not open_ended
    if lonely and (lone := _left_over(tensors[0], named, order)):
        places[tensors[0]] = lone
    left = [name for name in order if name not in places]
    free = [name for name in named if name not in places.values() and not _means_another(name, left)]
    needed = [name for name in free if named[name].default is Parameter.empty]
    if len(left) == len(free):
        places |= zip(left, free, strict=True)
    elif len(left) < len(free) and len(needed) <= len(left):
        places |= by_defaults(
            {name: {**given, **defaults}.get(name) for name in left}, {name: named[name] for name in free}, defaults
        )
    elif len(needed) == len(asked := [name for name in left if name in given and given[name] is not None]):
        places |= zip(asked, needed, strict=True)
    return places


def _means_another(name: str, left: list[str]) -> bool:
    """Whether a parameter's name says that it is something else than what is `left`, whatever its place."""
    if name in CONVENTIONS:
        return True
    if name not in TELLING or any(name in argument_names(other) for other in left):
        return False
    alike = next((words for words in WORDS if name in words), frozenset())
    return not any(alike and (other in alike or other not in TELLING) for other in left)


def _find(name: str, named: Mapping[str, Parameter], order: tuple[str, ...]) -> str | None:
    """Return the parameter that stands for `name`; an alias never takes a name that the contract itself uses."""
    if name in named:
        return name
    return next((alias for alias in argument_names(name) if alias in named and alias not in order), None)


def _left_over(name: str, named: Mapping[str, Parameter], order: tuple[str, ...]) -> str | None:
    """Return the first parameter that stands for no other argument: the place of a lone tensor, whatever its name."""
    taken = {_find(other, named, order) for other in order if other != name}
    return next((parameter for parameter in named if parameter not in taken), None)


def _is_default(name: str, value: Argument, defaults: Mapping[str, Scalar]) -> bool:
    if value is None:  # nothing is handed over; TOML has no word for such a default
        return True
    return name in defaults and type(value) is type(defaults[name]) and value == defaults[name]


def _lacking(name: str, described: str, names: tuple[str, ...], order: tuple[str, ...]) -> str:
    takes, gives = (", ".join(these) or "nothing" for these in (names, order))
    also = ", ".join(argument_names(name)[1:])
    hint = f" (also accepted: {also})" if also else ""
    other = next(
        (
            f". `{one}` is {CONVENTIONS[one]}; this exercise has another convention"
            for one in names
            if one in CONVENTIONS
        ),
        "",
    )
    if not names and described == "`forward`":
        other = ". Is `self` missing, the first parameter of every method?"
    return f"{described} must take an argument `{name}`{hint}; yours takes: {takes}; provided: {gives}{other}"
