"""The pictures of a report, found by what outputs are and never by an exercise's name: heat maps, gradients, curves.

An output whose expected rows are shares that add up to one holds attention weights; one of bools or with -inf is a
mask; one that differs from the input by the same in every row of the batch adds an encoding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.box.keys import call_name, output_key
from grader.box.observations import LOSSES, CallSeen, Presence
from grader.box.plan import Call, TensorSpec
from grader.box.train import PAD
from grader.checks.compare import hides, wrong_elements
from grader.checks.evidence import Evidence, Item, Trait, magnitude, scale_of
from grader.checks.gradients import gradient_slots
from grader.checks.learning import answering_call, bound_of, right_tokens, tensor, training_calls
from grader.checks.masking import Bounds, InfluenceOptions, influence
from grader.checks.memory import limit_of
from grader.exercise.inputs import Case
from grader.judge.report import Bar, Cells, Curve, Figures, Heatmap, Matrix, Pane, Role, Series
from grader.judge.verdicts import Judged

LARGEST = 24  # rows or columns that can still be read
MOST = 8  # matrices of one picture
_CELLS = 2400  # of all matrices of one picture; a report stays small
_GLANCE = 200  # cells that are taken in at a glance
_NO_WEIGHT = 1e-9
_SHARES = 1e-6  # by how much rows of shares may miss one
_VISIBLE = 1e-6  # a difference of weights that is worth a word
_BATCHED = 3  # axes of something with a batch, positions and features
_FEWEST = 2  # points that make a line
_MIB = 1 << 20
_MOST_HEADS = 7  # matrices of one picture of a trained model beside the last one
_SECONDS = output_key("seconds")


def draw(judged: Sequence[Judged], evidence: Evidence, grown_bytes: int = 0) -> Figures:
    """Return the pictures; one that the observations do not allow is left out.

    `grown_bytes` is by how much the student's process grew, as seen from outside; 0 where nobody saw.
    """
    items = [line.item for line in judged]
    bars = _gradients(items, evidence)
    curves = [
        _losses(items, evidence),
        _by_length(items, evidence),
        _memory(judged, evidence, grown_bytes),
        _path(judged, evidence),
    ]
    missing = [bar.name for bar in bars if not bar.value]
    note = "Every input and every parameter gets a finite gradient." if bars else ""
    return Figures(
        heatmaps=tuple(_heatmaps(judged, evidence)),
        gradients=bars,
        gradients_note=f"No gradient reaches {', '.join(missing)}." if missing else note,
        curves=tuple(curve for curve in curves if curve is not None),
    )


def short(value: float | Tensor) -> float:
    """Return a number with the four digits that a picture shows."""
    return float(f"{value:.4g}")


# ---- heat maps


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """Matrices that can be drawn: tensors of one shape, the student's, the expected, and what is wrong.

    Attributes:
        axes: the names of their axes; `...` stands for as many as are left, `1` for one that is not drawn.
        wrong: gives bools; asked for only where the picture is the one that is drawn.
        rows, columns: what these are called, where they are not called as their axes are.
    """

    title: str
    axes: Sequence[str]
    yours: Tensor
    expected: Tensor
    wrong: Callable[[], Tensor]
    rows: str = ""
    columns: str = ""

    @property
    def size(self) -> tuple[int, int]:
        """The rows and columns of a matrix; there are none where there are not two axes, or one is empty."""
        kept = [size for size, axis in zip(self.yours.shape, self._named, strict=True) if axis != "1"]
        return (kept[-2], kept[-1]) if len(kept) > 1 and self.yours.numel() else (0, 0)

    @property
    def _named(self) -> list[str]:
        leading = self.yours.dim() - len(self.axes) + 1
        return [name for axis in self.axes for name in ([axis] * leading if axis == "..." else [axis])]

    def stacked(self) -> Stack:
        """Return the matrices as stacks, one for each example of the batch; `size` says that there are some."""
        named = self._named
        *leading, rows, columns = [place for place, axis in enumerate(named) if axis != "1"]
        examples = [place for place in leading if named[place] in ("batch", "...")]
        panes = [place for place in leading if place not in examples]  # such as heads and layers: all are drawn
        single = [place for place, axis in enumerate(named) if axis == "1"]
        order = (*examples, *panes, rows, columns, *single)
        names = [""]
        for place in panes:
            one = named[place].removeprefix("num_").removesuffix("s")
            count = range(self.yours.shape[place])
            names = [f"{name}, {one} {index}".removeprefix(", ") for name in names for index in count]
        shape = (-1, len(names), *self.size)
        yours, expected, wrong = (x.permute(order).reshape(shape) for x in (self.yours, self.expected, self.wrong()))
        return Stack(
            yours,
            expected,
            wrong,
            tuple(names),
            rows=self.rows or named[rows].replace("...", "row"),
            columns=self.columns or named[columns].replace("...", "column"),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """The matrices of one output, (examples, panes, rows, columns): the student's, the expected, and what is wrong."""

    yours: Tensor
    expected: Tensor
    wrong: Tensor
    names: tuple[str, ...]
    rows: str
    columns: str

    def shown(self) -> Stack:
        """Return the one example that is drawn: the one with the most wrong cells, the first if there are none."""
        one = int(self.wrong.flatten(1).sum(dim=1).argmax())
        yours, expected, wrong = (tensor[one : one + 1] for tensor in (self.yours, self.expected, self.wrong))
        return replace(self, yours=yours, expected=expected, wrong=wrong)


Find = Callable[[Judged, Evidence], Picture | None]


def heatmap(stack: Stack, role: Role, title: str, note: str) -> Heatmap:
    """Return the picture of the one example of a stack."""
    rows, columns = stack.yours.shape[-2:]
    fitting = max(1, min(MOST, _CELLS // _cells_drawn(rows, columns)))
    parts = zip(stack.names[:fitting], stack.yours[0], stack.expected[0], stack.wrong[0], strict=False)
    panes = [Pane(name, rounded(yours), rounded(expected), cells(wrong)) for name, yours, expected, wrong in parts]
    if role == "influence" and not any(pane.wrong for pane in panes):
        panes = panes[:1]  # the others would show the same
    if max(rows, columns) > LARGEST:
        note += f"; showing {min(rows, LARGEST)} of {rows} rows and {min(columns, LARGEST)} of {columns} columns"
    first, *others = panes
    return Heatmap(
        role=role,
        title=title,
        rows=stack.rows,
        columns=stack.columns,
        values=first.values,
        expected=first.expected,
        wrong=first.wrong,
        note=note,
        name=first.name if others else "",
        panes=tuple(others),
    )


def rounded(matrix: Tensor) -> Matrix:
    """Return the upper left corner of a matrix with four digits a cell."""
    corner = matrix[:LARGEST, :LARGEST].double()
    return tuple(tuple(map(short, row)) for row in corner.tolist())


def cells(wrong: Tensor) -> Cells:
    """Return the places of a bool matrix that are True, as far as they are drawn."""
    return tuple((row, column) for row, column in wrong[:LARGEST, :LARGEST].nonzero().tolist())


def _cells_drawn(rows: int, columns: int) -> int:
    return min(rows, LARGEST) * min(columns, LARGEST)


def _heatmaps(judged: Sequence[Judged], evidence: Evidence) -> Iterator[Heatmap]:
    """Yield the matrices worth a look; outputs as they are only where nothing says more."""

    def best(find: Find) -> tuple[Stack, str] | None:
        return _best(judged, evidence, find)

    attention = best(_returned_weights) or best(_decoded_weights)
    drawn = [
        _trained_attention([line.item for line in judged], evidence),
        heatmap(attention[0], "attention", attention[1], _about_weights(attention[0])) if attention else None,
        _counted("mask", best(_mask)),
    ]
    if not any(drawn):
        drawn.append(_counted("encoding", best(_encoding)))
    if influenced := best(_influence):
        stack, title = influenced
        hidden = stack.expected == 0
        leaks, blind = int((stack.wrong & hidden).sum()), int((stack.wrong & ~hidden).sum())
        drawn.append(heatmap(stack, "influence", title, influence_note(leaks, blind)))
    if not any(drawn):
        drawn.append(_counted("output", best(_output)))
    yield from (one for one in drawn if one is not None)


def _best(judged: Sequence[Judged], evidence: Evidence, find: Find) -> tuple[Stack, str] | None:
    """Return what teaches most: of a case that failed, drawn whole, large but to be taken in at a glance."""
    found = [(line, picture) for line in judged if (picture := find(line, evidence)) is not None and picture.size[0]]
    if not found:
        return None

    def rank(one: tuple[Judged, Picture]) -> tuple[bool, bool, bool, int]:
        line, picture = one
        many = _cells_drawn(*picture.size)
        return line.passed, max(picture.size) > LARGEST, many > _GLANCE, many if many > _GLANCE else -many

    best = min(found, key=rank)[1]
    return best.stacked().shown(), best.title


def _counted(role: Role, best: tuple[Stack, str] | None) -> Heatmap | None:
    if best is None:
        return None
    stack, title = best
    wrong = int(stack.wrong.sum())
    note = f"{wrong} of {stack.wrong.numel()} cells are wrong" if wrong else "every cell is as expected"
    return heatmap(stack, role, title, note)


def influence_note(leaks: int, blind: int) -> str:
    """Return how many cells are seen that must not be, and how many are not that must be."""
    notes = [f"{leaks} leak{'s' if leaks > 1 else ''} found"] if leaks else []
    notes += [f"{blind} cell{'s' if blind > 1 else ''} without an effect where there must be one"] if blind else []
    return "; ".join(notes) or "no leaks found"


def _about_weights(stack: Stack) -> str:
    if many := int(stack.wrong.sum()):
        return f"nonzero weights in {many} cells that must be zero"
    off = float((stack.yours - stack.expected).abs().nan_to_num(torch.inf).max())
    if off > _VISIBLE:
        return f"weights are off by up to {off:.3g}"
    return "all masked weights are zero" if (stack.expected == 0).any() else "every weight is as expected"


def _outputs(line: Judged, evidence: Evidence) -> Iterator[tuple[Call, TensorSpec, Tensor]]:
    """Yield the plain call of a check's case with each output of numbers and what is expected there."""
    if not line.item.has(Trait.SHOWS_OUTPUTS) or evidence.problem(call := evidence.call(line.item, "base")) is not None:
        return
    for slot in call.outputs:
        if slot.dtype != "int64" and (truth := evidence.truth(call, slot.key)) is not None and truth.dim() > 1:
            yield call, slot, truth.double()


def _returned_weights(line: Judged, evidence: Evidence) -> Picture | None:
    for call, slot, truth in _outputs(line, evidence):
        are_shares = truth.shape[-1] > 1 and truth.numel() and float(truth.min()) >= 0
        if are_shares and len(slot.axes) > 1 and not slot.dtype and magnitude(truth.sum(dim=-1) - 1) < _SHARES:
            title = f"Attention weights, {line.item.case.title}"
            return _weights(title, slot.axes, evidence.output(call, slot), truth)
    return None


def _decoded_weights(line: Judged, evidence: Evidence) -> Picture | None:
    """Return the weights that a case was made to show: its values are orthonormal, `decode` undoes them."""
    decode = line.item.case.decode
    if decode is None or evidence.problem(call := evidence.call(line.item, "base")) is not None:
        return None
    slot = call.outputs[0]
    truth, axis, time = evidence.truth(call, slot.key), slot.axes[-2], slot.shape[-2]
    assert truth is not None
    both = (tensor @ decode.flatten(1) for tensor in (evidence.output(call, slot), truth))
    # Decoding leaves rounding noise where there is no weight.
    yours, expected = (torch.where(weights.abs() < _NO_WEIGHT, 0.0, weights)[..., :time] for weights in both)
    if not bool(((yours >= 0) & (yours < 1 + _NO_WEIGHT)).all()):
        return None  # something behind the weights is wrong as well, so they cannot be read off
    return _weights("Attention weights, read off your output", ("...", axis, axis), yours, expected)


def _weights(title: str, axes: Sequence[str], yours: Tensor, expected: Tensor) -> Picture:
    """Return weights, of which those are wrong that must be zero and are not."""
    return Picture(title, axes, yours, expected, lambda: (expected.abs() < _NO_WEIGHT) & ~(yours.abs() < _NO_WEIGHT))


def _mask(line: Judged, evidence: Evidence) -> Picture | None:
    for call, slot, truth in _outputs(line, evidence):
        if slot.dtype == "bool" or hides(truth):
            return _compared(line, evidence, call, slot)
    return None


def _encoding(line: Judged, evidence: Evidence) -> Picture | None:
    """Return output minus input, where that is the same in every row of the batch."""
    case = line.item.case
    for call, slot, truth in _outputs(line, evidence):
        given = [case.arguments[name] for name in case.wants]
        if len(given) != 1 or not isinstance(x := given[0], Tensor) or x.shape != truth.shape or truth.dim() < _BATCHED:
            return None
        if truth.shape[0] == 1:
            return None  # alone, every output looks as if it only added something
        added = truth - x
        if not torch.allclose(added, added[:1].expand_as(added), rtol=0, atol=1e-9) or not added.any():
            return None
        title = f"What is added to each position, {case.title}"
        return replace(_compared(line, evidence, call, slot, minus=x), title=title)
    return None


def _output(line: Judged, evidence: Evidence) -> Picture | None:
    return next((_compared(line, evidence, call, slot) for call, slot, _ in _outputs(line, evidence)), None)


def _compared(
    line: Judged, evidence: Evidence, call: Call, slot: TensorSpec, *, minus: Tensor | None = None
) -> Picture:
    """Return an output, of which those elements are wrong that a check of values takes for wrong."""
    truth, title = evidence.truth(call, slot.key), f"`{slot.name}`, {line.item.case.title}"
    assert truth is not None
    yours, expected = evidence.output(call, slot), truth.double()
    if minus is not None:
        yours, expected = yours - minus, expected - minus
    bound = evidence.bound(call, slot.key)
    return Picture(title, slot.axes, yours, expected, lambda: wrong_elements(yours, expected, bound))


def _influence(line: Judged, evidence: Evidence) -> Picture | None:
    item = line.item
    if not item.has(Trait.SHOWS_INFLUENCE) or (options := item.given(InfluenceOptions)).axis == "batch":
        return None
    of_case = call_name(item.case.name, "")
    if any(evidence.problem(call) for call in evidence.plan.calls if call.name.startswith(of_case)):
        return None
    call = evidence.call(item, "base")
    slot, (seen, expected, scale) = call.output(options.output), influence(item, evidence)
    bounds = Bounds.of(call.dtype, scale)

    def wrong() -> Tensor:
        leaks = ((seen > bounds.moved) | seen.isnan()) & (expected < bounds.still)
        return leaks | ((seen < bounds.moved) & (expected > bounds.clear))

    yours, truth = (torch.where(moved < bounds.still, 0.0, moved) for moved in (seen, expected))
    return Picture(
        f"Attention pattern, {item.case.title}",
        (*slot.axes[: slot.axes.index(options.rows) + 1], options.axis),
        yours,
        truth,
        wrong,
        rows=f"{options.output}, {options.rows}",
        columns=f"{' and '.join(options.of)}, {options.axis}",
    )


# ---- gradients and curves


def _gradients(items: Sequence[Item], evidence: Evidence) -> tuple[Bar, ...]:
    item = next((item for item in items if item.has(Trait.SHOWS_GRADIENTS)), None)
    if item is None or evidence.problem(call := evidence.call(item, "base")) is not None:
        return ()
    bars = []
    for slot in gradient_slots(call, evidence):
        truth, seen = evidence.truth(call, slot.key), evidence.seen(call).slots.get(slot.key)
        if truth is not None and seen is not None and evidence.has_gradient(call, slot.key):
            there = seen.tensor if seen.presence is Presence.TENSOR else None
            bars.append(Bar(slot.name, None if there is None else short(scale_of(there)), short(scale_of(truth))))
    return tuple(bars)


def _path(judged: Sequence[Judged], evidence: Evidence) -> Curve | None:
    """Return an output that is one row of numbers made from no tensor; of a wrong case first."""
    for line in sorted(judged, key=lambda line: line.passed):
        item = line.item
        shown = item.has(Trait.SHOWS_OUTPUTS) and not item.case.wants
        if not shown or evidence.problem(call := evidence.call(item, "base")):
            continue
        slot = call.outputs[0]
        truth = evidence.truth(call, slot.key)
        if len(slot.shape) == 1 and slot.shape[0] >= _FEWEST and truth is not None:
            both = {"yours": evidence.output(call, slot), "expected": truth.double()}
            series = tuple(_numbers(name, enumerate(values.tolist())) for name, values in both.items())
            return Curve(f"`{slot.name}`, {item.case.title}", slot.axes[0], slot.name, series)
    return None


def _memory(judged: Sequence[Judged], evidence: Evidence, grown_bytes: int) -> Curve | None:
    lines = [line for line in judged if line.item.has(Trait.SHOWS_MEMORY)]
    if len(lines) < _FEWEST:
        return None
    limit = limit_of(lines[0].item)
    axis, below = limit.partition("*")[0].strip(), limit.replace("*", " x ")
    sized = sorted(((_size(line.item, axis), line.item) for line in lines), key=lambda pair: pair[0])
    calls = [(size, evidence.call(item, "base")) for size, item in sized]

    def series(name: str, value: Callable[[Call], int | None]) -> Series:
        points = [(float(size), float(most)) for size, call in calls if (most := value(call)) is not None]
        return Series(name, tuple(x for x, _ in points), tuple(y for _, y in points))

    drawn = (
        series("yours", lambda call: _largest(evidence.observed.calls.get(call.name))),
        series("expected", lambda call: evidence.expected.calls[call.name].largest),
        series(below, lambda call: call.max_elements),
    )
    over = sum(not line.passed for line in lines)
    note = f"{over} of {len(lines)} sequences reach {below}" if over else f"no tensor reaches {below}"
    if grown_bytes > 0:
        note += f"; the memory of the whole process grew by {grown_bytes / _MIB:.1f} MiB at most"
    shown = tuple(one for one in drawn if one.xs)
    return Curve(f"Memory against {axis}", axis, "elements of the largest tensor", shown, note=note)


def _size(item: Item, axis: str) -> int:
    size = item.case.sizes[axis]
    assert isinstance(size, int)
    return size


def _largest(seen: CallSeen | None) -> int | None:
    return seen.largest if seen is not None else None


def _numbers(name: str, values: Iterable[tuple[float, float]]) -> Series:
    points = [(float(x), short(y)) for x, y in values if math.isfinite(y)]
    return Series(name, tuple(x for x, _ in points), tuple(y for _, y in points))


# ---- what was trained


def _trained(items: Sequence[Item], evidence: Evidence) -> list[tuple[str, Item]]:
    """Return one item for each case that trains, by what its line is called: the entry point, where there are some."""
    cases: dict[str, Item] = {}
    for item in items:
        if evidence.plan.contract(item.case.part).kind.trains:
            cases.setdefault(item.case.name, item)
    trained = list(cases.values())
    return [(evidence.plan.contract(one.case.part).name if len(trained) > 1 else "yours", one) for one in trained]


def _losses(items: Sequence[Item], evidence: Evidence) -> Curve | None:
    trained = _trained(items, evidence)
    lines = [_numbers(name, _loss_of_steps(item.case, evidence)) for name, item in trained]
    series = tuple(line for line in lines if len(line.xs) > 1)
    if not series:
        return None
    bounds = [bound_of(item) for item in items if item.has(Trait.BOUNDS_LOSS)]
    bound = bounds[0] if len(set(bounds)) == 1 and len(trained) == 1 else None
    return Curve("Training loss", "step", "loss", series, bound=bound, note=_speeds(trained, evidence))


def _loss_of_steps(case: Case, evidence: Evidence) -> Iterator[tuple[float, float]]:
    step = 0
    for call in training_calls(case):
        seen = evidence.observed.calls.get(call.name)
        told = seen.slots.get(LOSSES) if seen is not None else None
        if told is None or told.tensor is None:
            return
        yield from enumerate(told.tensor.tolist(), start=step + 1)
        step += told.tensor.numel()


def _speeds(trained: Sequence[tuple[str, Item]], evidence: Evidence) -> str:
    """Return in words how long each training took; the clock is the submission's own, so nothing depends on it."""
    seconds = {name: _seconds(item.case, evidence) for name, item in trained}
    known = {name: took for name, took in seconds.items() if took > 0}
    if not known:
        return ""
    fastest = min(known, key=lambda name: known[name])
    if len(known) == 1:
        return f"trained in {known[fastest]:.1f} s"
    others = (f"{name} {took / known[fastest]:.1f} times as long" for name, took in known.items() if name != fastest)
    return f"{fastest} trained the fastest, in {known[fastest]:.1f} s; {', '.join(others)}"


def _seconds(case: Case, evidence: Evidence) -> float:
    seen = (evidence.observed.calls.get(call.name) for call in training_calls(case))
    slots = (call.slots.get(_SECONDS) for call in seen if call is not None)
    total = sum(float(slot.tensor) for slot in slots if slot is not None and slot.tensor is not None)
    return total if math.isfinite(total) else 0.0


def _by_length(items: Sequence[Item], evidence: Evidence) -> Curve | None:
    trained = _trained(items, evidence)
    series = tuple(_shares(name, item, evidence) for name, item in trained if _answered(item, evidence))
    if not series:
        return None
    longest = max(_lengths(tensor(item.case, "source")).max().item() for _, item in trained)
    new = any(_lengths(tensor(item.case, "held_target")).max().item() > longest for _, item in trained)
    note = f"training sentences had at most {longest} words" if new else ""
    return Curve("Correct words, by the length of the sentence", "words", "share of correct words", series, note=note)


def _shares(name: str, item: Item, evidence: Evidence) -> Series:
    target, right = tensor(item.case, "held_target"), right_tokens(item, evidence).double()
    lengths = _lengths(target)[:, None].expand_as(target)[target != PAD]
    known = sorted(set(lengths.tolist()))
    return Series(name, tuple(map(float, known)), tuple(short(right[lengths == one].mean()) for one in known))


def _lengths(tokens: Tensor) -> Tensor:
    return (tokens != PAD).sum(dim=-1)


def _answered(item: Item, evidence: Evidence) -> bool:
    call = answering_call(item.case)
    return any(known.name == call.name for known in evidence.plan.calls) and evidence.problem(call) is None


def _trained_attention(items: Sequence[Item], evidence: Evidence) -> Heatmap | None:
    """Return where each trained model looks, side by side, and where each word that it must say comes from.

    Nothing can be expected there: a model may be right without looking where the word comes from.
    """
    trained = _trained(items, evidence)
    names = [name if len(trained) > 1 else "" for name, _ in trained]
    panes = [pane for name, (_, item) in zip(names, trained, strict=True) for pane in _heads(name, item, evidence)]
    if not panes:
        return None
    alignment = _tidy(tensor(trained[0][1].case, "alignment"))
    first, *others = panes
    return Heatmap(
        role="attention",
        title=f"Attention of your trained {'models' if len(trained) > 1 else 'model'}",
        rows="output word",
        columns="input word",
        values=first.values,
        expected=(),
        note="in an unseen sequence",
        name=first.name,
        panes=(*others, Pane("where each word comes from", alignment, ())),
    )


def _heads(name: str, item: Item, evidence: Evidence) -> Iterator[Pane]:
    """Yield the attention of the first held-out sequence, a pane a head."""
    if not _answered(item, evidence):
        return
    call = answering_call(item.case)
    weights = evidence.output(call, call.outputs[-1])
    heads = weights.reshape(-1, *weights.shape[-2:])
    for number, head in enumerate(heads[:_MOST_HEADS]):
        names = (name, f"head {number}") if len(heads) > 1 else (name,)
        yield Pane(", ".join(filter(None, names)) or "weights", _tidy(head), ())


def _tidy(matrix: Tensor) -> Matrix:
    finite = torch.nan_to_num(matrix.double(), 0.0, 0.0, 0.0)
    return tuple(tuple(map(short, row)) for row in finite.tolist())
