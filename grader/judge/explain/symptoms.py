"""Says what is wrong with an answer besides numbers: it raises, keeps state, gives NaN or no such tensor, does not end.

Each of these is an experiment: the answer runs again on one or a few calls, and what it gives is compared with what it
gave before, or in the other mode. So what is said has been seen; it gives no points and takes none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from grader.box.faults import STILL_RUNNING
from grader.box.keys import CallName, call_name, case_of, is_output
from grader.box.observations import Blame, Presence, Raised, Seen, Stage
from grader.box.plan import Call
from grader.checks.evidence import Trait
from grader.checks.explain import hint_of, message_of
from grader.judge.attempt import MUCH_PRINTED
from grader.judge.explain.trace import WrongAnswer, first_change
from grader.judge.inspection.names import is_readable, tree_of
from grader.judge.report import Location
from grader.judge.text import capitalised, clean

_MOST_CHARACTERS = 160  # of an exception's message
_NAMED = re.compile(r"`([A-Za-z_][\w.]*)")


def failure(answer: WrongAnswer) -> Location | None:
    """Return where the smallest call that raises does so."""
    for call in answer.counted():
        seen = answer.seen(call)
        built = answer.evidence.observed.builds.get(call.build or "")
        if not (seen is not None and seen.raised) and not (built is not None and built.raised):
            continue
        if (again := answer.traced(call)) is None:
            return None
        now = (again.builds.get(call.build or ""), again.calls.get(call.name))
        raised = next((one.raised for one in now if one is not None and one.raised is not None), None)
        return _failure(answer, call, raised) if raised is not None else None
    return None


def _failure(answer: WrongAnswer, call: Call, raised: Raised) -> Location | None:
    if raised.blame is Blame.ARGUMENT:
        entry = answer.evidence.plan.contract(call.part)
        line = definition(answer.text, entry.name, "__init__" if raised.stage is Stage.CONSTRUCT else "forward")
        if line is None:
            return None
        title = f"`{entry.name}` at {answer.where(line)} is not what the exercise asks for"
        return Location("", title, clean(raised.message, limit=400), line)
    if raised.blame is Blame.WEIGHTS:
        return _weight(answer, call, raised)
    if raised.line is None:
        return None
    where = answer.where(raised.line)
    said = clean(message_of(raised), limit=_MOST_CHARACTERS).rstrip(".…").rstrip()
    shapes = [f"`{n}` has shape {_sizes(tuple(v.shape))}" for n, v in call.arguments.items() if isinstance(v, Tensor)]
    given = " and ".join(shapes[:2])
    case = f"In the case “{answer.title(call)}”{f', where {given},' if given else ''}"
    if raised.blame is Blame.FORBIDDEN:
        title = f"{capitalised(where)} calls what you are to write yourself"
        return Location("", title, f"{case} {said}.", raised.line)
    title = f"The backward pass fails at {where}" if raised.stage is Stage.BACKWARD else f"Your code fails at {where}"
    hint = hint_of(raised)
    message = f"{case} {where} raises {raised.type}{f': {said}' if said else ''}{f'; {hint}' if hint else ''}."
    return Location("", title, message, raised.line)


def _weight(answer: WrongAnswer, call: Call, raised: Raised) -> Location | None:
    """Point to the line that makes the weight, where only one assigns an attribute that is named."""
    for path in _NAMED.findall(raised.message):
        name = path.rstrip(".").removesuffix(".weight").removesuffix(".bias").rpartition(".")[2]
        lines = assignments(answer.text, name)
        if len(lines) == 1:
            fault = "has no bias" if "must have a bias" in raised.message else "is not what the exercise asks for"
            title = f"`{name}`, created at {answer.where(lines[0])}, {fault}"
            message = f"In the case “{answer.title(call)}”: {clean(raised.message, limit=400)}"
            return Location("", title, message, lines[0])
    return None


def misfit(answer: WrongAnswer) -> Location | None:
    """Return which line gives what is no tensor, or one of another shape or dtype than it must be."""
    for call in answer.counted():
        seen = answer.seen(call)
        if seen is None or seen.raised is not None:
            continue
        for slot in call.outputs:
            given, dtype = seen.slots.get(slot.key), slot.dtype or call.dtype
            if given is None or (given.presence is Presence.TENSOR and given.dtype == dtype):
                continue
            if (line := _line_of(answer, call, given, dtype)) is None:
                return None
            where = answer.where(line)
            title = f"Your `{slot.name}` does not match the exercise: see {where}"
            gives = f"{where} gives {given.what or f'one of shape {_sizes(given.shape)} in {given.dtype}'}."
            if given.what == "None":
                title = f"None is returned: see {where}"
                gives = f"your code returns None: see {where}. Is a `return` missing, or its value?"
            elif given.what in ("ndarray", "a ndarray"):
                title = f"A NumPy array is returned, not a tensor: see {where}"
            wanted = f"a tensor of shape {_sizes(slot.shape)} in {dtype}"
            message = f"In the case “{answer.title(call)}” `{slot.name}` must be {wanted}, but {gives}"
            return Location("", title, message, line)
    return None


def _line_of(answer: WrongAnswer, call: Call, given: Seen, dtype: str) -> int | None:
    """Return the line that first gives the wrong dtype, or the last one that gives the shape; else the only return."""
    alone = answer.traced_alone(call)
    trace = alone.trace if alone is not None and given.presence is not Presence.OTHER else ()
    line = None
    if given.dtype == dtype:
        line = next((result.line for result in reversed(trace) if tuple(result.values.shape) == given.shape), None)
    elif dtype == call.dtype:
        line = next((result.line for result in trace if result.dtype == given.dtype), None)
    if line:
        return line
    name = answer.evidence.plan.contract(call.part).name
    lines = returns(answer.text, name, "forward")
    if not lines:
        return definition(answer.text, name, "forward")
    return lines[0] if len(lines) == 1 else None


def _sizes(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"


def refusal(answer: WrongAnswer) -> Location | None:
    """Return the constructor that accepts what it must refuse, or the line that refuses it in another way."""
    judged = (line.item for line in answer.outcome.judged if not line.passed and line.item.has(Trait.REFUSES))
    failed = {f"refused: {build.name}" for item in judged if (build := item.case.build) is not None}
    for build in answer.evidence.plan.builds:
        seen = answer.evidence.observed.builds.get(build.name)
        if seen is None or build.name not in failed:
            continue
        entry = answer.evidence.plan.contract(build.part)
        raised = seen.raised.line if seen.raised is not None and not seen.raised.cell else None
        line = raised or definition(answer.text, entry.name, "__init__")
        if line is None:
            return None
        given = ", ".join(f"{name}={value!r}" for name, value in build.arguments.items())
        did, fault = "accepts it", "accepts invalid arguments"
        if seen.raised is not None:
            did, fault = f"raises {seen.raised.type}", "raises another exception than it must"
        where = answer.where(line)
        message = f"With {given} the constructor must raise as the exercise says; yours {did}: see {where}."
        return Location("", f"`{entry.name}` {fault}: see {where}", message, line)
    return None


def state_kept(answer: WrongAnswer) -> Location | None:
    """Return that a call is right by itself, and wrong after another one: something is kept from call to call."""
    plan, observed = answer.evidence.plan.untrained(), answer.evidence.observed
    for call in _wrong_calls(answer):
        alone = answer.traced_alone(call)
        if alone is None or answer.is_wrong(call, alone):
            continue
        earlier = plan.calls[: [one.name for one in plan.calls].index(call.name)]
        before = [one for one in earlier if one.name in observed.calls]
        own = [one for one in before if one.build == call.build]
        for calls in (own, before if before != own else []):
            seen = answer.traced(*calls, call) if calls else None
            after = seen.calls.get(call.name) if seen is not None else None
            if after is None or not answer.is_wrong(call, after):
                continue
            changed = first_change(alone.trace, after.trace, answer.tolerance)
            line = changed.line if changed is not None else None
            if after.raised and (changed is None or changed is after.trace[-1]):
                line = after.raised.line or line
            see = f": see {answer.where(line)}" if line else ""
            first = f" The first difference that was seen is at {answer.where(line)}." if line else ""
            message = (
                f"The case “{answer.title(call)}” is right by itself, but wrong after earlier calls.{first} "
                "Each call must depend only on its arguments: compute whatever depends on them anew in each call."
            )
            return Location("", f"Your code keeps state from one call to the next{see}", message, line)
    return None


def _wrong_calls(answer: WrongAnswer) -> list[Call]:
    """Return the smallest call that raised, and the smallest that gave something wrong."""
    calls: dict[bool, Call] = {}
    for call in answer.counted():
        seen = answer.seen(call)
        if not call.training and seen is not None and not answer.says_nothing(call) and answer.is_wrong(call, seen):
            calls.setdefault(seen.raised is not None, call)
    return list(calls.values())


def nan(answer: WrongAnswer) -> Location | None:
    """Return the line that first gives NaN, in a call whose output has NaN and must have none."""
    for call in _wrong_calls(answer):
        pairs = ((key, slot.tensor) for key, slot in answer.evidence.observed.calls[call.name].slots.items())
        outputs = [(value, answer.evidence.truth(call, key)) for key, value in pairs if is_output(key)]
        if not any(_has_nan(value) and truth is not None and not _has_nan(truth) for value, truth in outputs):
            continue
        alone = answer.traced_alone(call)
        trace = alone.trace if alone is not None else ()
        line = next((result.line for result in trace if _has_nan(result.values)), None)
        if line is not None:
            where = answer.where(line)
            message = (
                f"In the case “{answer.title(call)}” your output must not contain NaN. {capitalised(where)} is the "
                "first line that produces it: look for ∞ - ∞, 0 · ∞ and 0 / 0 there."
            )
            return Location("", f"NaN first appears at {where}", message, line)
    return None


def _has_nan(values: Tensor | None) -> bool:
    return values is not None and bool(values.isnan().any())


def training_mode(answer: WrongAnswer) -> Location | None:
    """Return the first line whose result changes in training mode, where a check failed in that mode alone."""
    call = _failed_in_training(answer)
    if call is None or _wrong_calls(answer):
        return None
    arguments = {**call.arguments, "training": False} if "training" in call.arguments else call.arguments
    name = CallName(f"{call.name} in evaluation mode")
    before = answer.traced_alone(replace(call, name=name, training=False, arguments=arguments))
    after = answer.traced_alone(call)
    if before is None or after is None:
        return None
    drawn = next((result for result in after.trace if result.random), None)
    changed = drawn or first_change(before.trace, after.trace, answer.tolerance)
    may_change, case = _may_change(answer, call), f"In the case “{answer.title(call)}”"
    if changed is None:
        message = (
            f"{case} every result of your code is the same in training and in evaluation mode. "
            "In training mode elements must be dropped."
        )
        return Location("", "Training mode does not change your results", message) if may_change else None
    where = answer.where(changed.line)
    title = f"Training mode changes your results at {where}"
    what = f"{where} draws random numbers" if drawn else f"{where} gives different results than in evaluation mode"
    due = "Training mode must not change anything in this case: nothing is to be dropped."
    if may_change:
        due = "The failed check says what dropout must do there."
    if may_change and drawn:  # as it must, so that is no fault by itself
        title = f"In training mode {what}"
    return Location("", title, f"{case}, in training mode, {what}. {due}", changed.line)


def _failed_in_training(answer: WrongAnswer) -> Call | None:
    """Return the smallest call in training mode on which a check failed, evaluation mode being right."""
    items = [line.item for line in answer.outcome.judged if not line.passed]
    dropping = {item.case.name for item in items if item.has(Trait.CHANGES_IN_TRAINING)}
    steady = {item.case.name for item in items if item.has(Trait.SAME_IN_TRAINING)}
    for call in answer.counted():
        case, seen = case_of(call.name), answer.seen(call)
        if not call.training or seen is None or seen.raised:
            continue
        may_change = _may_change(answer, call)
        if case in dropping and may_change:
            return call
        base = answer.evidence.observed.calls.get(call_name(case))
        right = base is not None and not answer.is_wrong(answer.evidence.plan.call(call_name(case)), base)
        if case in steady and right and not may_change and answer.is_wrong(call, seen):
            return call
    return None


def _may_change(answer: WrongAnswer, call: Call) -> bool:
    """Return whether the reference gives something else in training mode than in evaluation mode."""
    expected = answer.evidence.expected.calls
    plain, trained = expected.get(call_name(case_of(call.name))), expected.get(call.name)
    if plain is None or trained is None or "training" in call.arguments:
        return True
    pairs = [(trained.slots[slot.key].tensor, plain.slots[slot.key].tensor) for slot in call.outputs]
    return not all(one is not None and other is not None and torch.equal(one, other) for one, other in pairs)


def argument_overwritten(answer: WrongAnswer) -> Location | None:
    """Return the line that writes into an argument."""
    for call in answer.counted():
        seen = answer.seen(call)
        if seen is None or not seen.modified:
            continue
        alone = answer.traced_alone(call)
        line = next((result.line for result in alone.trace if result.writes), None) if alone is not None else None
        if line is None:
            return None
        names, where = ", ".join(f"`{clean(name, limit=40)}`" for name in seen.modified), answer.where(line)
        message = (
            f"In the case “{answer.title(call)}” {names} changes during your call: {where} writes into "
            "it. The caller may still need it: create a new tensor."
        )
        return Location("", f"{capitalised(where)} writes into an argument", message, line)
    return None


_STILL_THERE_SECONDS = 1.0  # after which a line is told; the reference needs milliseconds for any call


def unfinished(answer: WrongAnswer) -> Location | None:
    """Return the line in which the first call that did not end was after a second; None where it cannot be told."""
    plan, seen = answer.evidence.plan, answer.evidence.observed
    call = next((one for one in plan.calls if one.name not in seen.calls), None)
    if call is None:
        return None
    again = answer.run(replace(plan.only(frozenset({call.name})), line_after=_STILL_THERE_SECONDS)).observations
    loading = [again.loading, again.loaded.raised]
    running = [*(one.raised for one in again.builds.values()), *(one.raised for one in again.calls.values())]
    raised = next((one for one in (*loading, *running) if one is not None and one.type == STILL_RUNNING), None)
    if raised is None or raised.line is None:
        return None
    is_loading = any(raised is one for one in loading)
    when = "While your file was being loaded," if is_loading else f"In the case “{answer.title(call)}”"
    hint = "Look for a loop that never ends, or that goes over single numbers where one operation of torch does it."
    if is_loading:
        hint = 'A demonstration belongs under `if __name__ == "__main__":` or into another file.'
    if len(answer.outcome.run.output) > MUCH_PRINTED:
        hint = "It prints a lot, and printing takes time: print less, then see whether it ends."
    where = answer.where(raised.line)
    message = f"{when} your code was still in {where} after {_STILL_THERE_SECONDS:.0f} s. {hint}"
    return Location("", f"The time was over in {where}", message, raised.line)


_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definition(text: str, name: str, method: str = "") -> int | None:
    """Return the line that defines a function, or a class's method; the class itself if it has no such method."""
    node = _definition(text, name, method)
    return node.lineno if node is not None else None


def returns(text: str, name: str, method: str = "") -> list[int]:
    """Return the lines of a function's or method's own `return` statements that return something."""
    function = _definition(text, name, method)
    inside = _inside(function) if function is not None else ()
    return [node.lineno for node in inside if isinstance(node, ast.Return) and node.value]


def assignments(text: str, attribute: str) -> list[int]:
    """Return the lines that assign `self.<attribute>`."""
    lines = set()
    for node in _nodes(text):
        targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else []
        for target in [node.target] if isinstance(node, ast.AnnAssign) else targets:
            parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            lines |= {one.lineno for one in parts if isinstance(one, ast.Attribute) and one.attr == attribute}
    return sorted(lines)


def _nodes(text: str) -> list[ast.AST]:
    if not is_readable(text):
        return []
    try:
        tree, _ = tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # of what ran, at most the last two
        return []
    return list(ast.walk(tree))


def _definition(text: str, name: str, method: str) -> _Definition | None:
    named = [node for node in _nodes(text) if isinstance(node, _Definition) and node.name == name]
    last = named[-1] if named else None  # the last one counts, as in Python
    if isinstance(last, ast.ClassDef):
        methods = [node for node in last.body if isinstance(node, _Function) and node.name == method]
        return methods[-1] if methods else last
    return last


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _Function | ast.ClassDef | ast.Lambda):
            yield child
            yield from _inside(child)
