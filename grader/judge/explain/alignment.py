"""Which of a traced answer's tensors are which of the reference's nodes, in whatever arrangement.

An arrangement is the same numbers with axes in another order, two axes merged or one split, or axes of length one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, permutations
from math import prod

import torch
from torch import Tensor

from grader.box.keys import is_output
from grader.box.observations import CallSeen, Traced
from grader.box.plan import FLOATS, Call, Plan
from grader.checks.evidence import FLOORS
from grader.exercise.steps import Node, Values, magnitude
from grader.judge.explain.budget import GLANCE, Effort, spend
from grader.judge.explain.trace import Replay, Replayed, WrongAnswer, outputs_of

_MOST_ARRANGEMENTS = 60  # of one tensor that are tried
_MOST_AXES = 5
HIDDEN_BY = 40.0  # a score so far below every visible one is hidden: exp(-40) is below float64's rounding of a sum
MOST_NODES = 100  # a reference with more of them in one call is not looked at
_LEAST_NUMBERS = 4  # different ones, below which tensors are alike by chance


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """A tensor in another arrangement.

    Attributes:
        values: in the shape that was asked for.
        plain: only the order of axes has changed; else axes were merged or split as well.
        still: nothing has changed but axes of length one.
        sure: no axis was split, and no two of one size have changed their order, so it can be laid out in no other way.
    """

    values: Tensor
    plain: bool
    still: bool
    sure: bool


def arrangements(values: Tensor, shape: Sequence[int]) -> Iterator[Arrangement]:
    """Yield `values` in the ways in which they may have `shape`, the plainest first, and no more than 60."""
    spend(1)
    if values.numel() == prod(shape) and max(values.dim(), len(shape)) <= _MOST_AXES:
        for arrangement in islice(_arrangements(values.squeeze(), shape), _MOST_ARRANGEMENTS):
            spend(20 + values.numel() // 20)  # most of these are copies
            yield arrangement


def _arrangements(values: Tensor, shape: Sequence[int]) -> Iterator[Arrangement]:
    target = tuple(size for size in shape if size != 1)
    for order in _orders(values, target):
        still = order == tuple(range(values.dim()))
        sure = all(
            values.shape[one] != values.shape[other] or one < other
            for position, one in enumerate(order)
            for other in order[position + 1 :]
        )
        yield Arrangement(values.permute(order).reshape(tuple(shape)), plain=True, still=still, sure=sure)
    split = list(_split(values, target))
    for changed in (*split, *_merged(values, target)):
        sure = not split and len(set(changed.shape)) == changed.dim()  # an axis of six is two of three, or three of two
        for order in _orders(changed, target):
            yield Arrangement(changed.permute(order).reshape(tuple(shape)), plain=False, still=False, sure=sure)


def _orders(values: Tensor, target: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if values.dim() == len(target):
        for order in permutations(range(values.dim())):
            if tuple(values.shape[axis] for axis in order) == target:
                yield order


def _split(values: Tensor, target: tuple[int, ...]) -> Iterator[Tensor]:
    """Yield `values` with one axis split into two that `target` has: heads out of features, or out of a batch."""
    if values.dim() == len(target) - 1:
        pairs = dict.fromkeys(permutations(target, 2))
        for axis, size in enumerate(values.shape):
            sizes = values.shape
            yield from (values.reshape(sizes[:axis] + pair + sizes[axis + 1 :]) for pair in pairs if prod(pair) == size)


def _merged(values: Tensor, target: tuple[int, ...]) -> Iterator[Tensor]:
    if values.dim() == len(target) + 1:
        for first, second in permutations(range(values.dim()), 2):
            if values.shape[first] * values.shape[second] in target:
                yield values.movedim((first, second), (0, 1)).flatten(0, 1)


def same(values: Tensor, truth: Tensor, tolerance: float) -> bool:
    """Return whether two tensors of one shape agree.

    Args:
        values: what is looked at; where `truth` is -inf, anything far below all that is visible will do.
        truth: what it is held against.
        tolerance: relative to the largest finite magnitude of `truth`.
    """
    spend(50 + truth.numel() // 50)
    hidden = truth == -torch.inf
    if bool(hidden.any()) and not bool(hidden.all()):
        visible = values[~hidden]
        if bool(visible.isfinite().any()):
            least = visible[visible.isfinite()].min()
            values = values.masked_fill(hidden & (values <= least - HIDDEN_BY), -torch.inf)
    return torch.allclose(values, truth, rtol=0.0, atol=tolerance * magnitude(truth), equal_nan=True)


def same_numbers(values: Tensor, truth: Tensor, tolerance: float = 1e-9) -> bool:
    """Return whether two tensors hold the same numbers, in whatever places."""
    return same(values.flatten().sort().values, truth.flatten().sort().values, tolerance)


def matching_arrangement(
    values: Tensor, truth: Tensor, tolerance: float, *, sure: bool = False, total: float | None = None
) -> Arrangement | None:
    """Return the arrangement in which `values` are `truth`, None if there is none; a `sure` one if asked for.

    `total` is the sum of `values`, where it is known already.
    """
    if values.numel() != truth.numel() or not sums_agree(values, truth, tolerance, total):
        return None
    ways = (arrangement for arrangement in arrangements(values, truth.shape) if arrangement.sure or not sure)
    return next((arrangement for arrangement in ways if same(arrangement.values, truth, tolerance)), None)


def sums_agree(values: Tensor, truth: Tensor, tolerance: float, known: float | None = None) -> bool:
    """Return whether the sums agree, which no arrangement changes; it spares most comparisons."""
    spend(30 + truth.numel() // 100)
    total = float(truth.sum())
    if total != total or total in (torch.inf, -torch.inf):
        return True
    own = float(values.sum()) if known is None else known
    return abs(own - total) <= truth.numel() * (tolerance * magnitude(truth) + 1e-300)


def is_distinctive(values: Tensor) -> bool:
    """Return whether a tensor has enough different numbers to be told from any other."""
    return len(torch.unique(values[values.isfinite()])) >= _LEAST_NUMBERS


def repeats_of(values: Values, arguments: Sequence[Tensor] = ()) -> dict[Node, Node | None]:
    """Return the nodes whose numbers are those of an earlier one, with that one; None stands for an argument."""
    known: list[tuple[Node | None, Tensor]] = [(None, value.squeeze()) for value in arguments]
    repeats: dict[Node, Node | None] = {}
    for node, value in values.items():
        plain = value.squeeze()
        equal = [other for other, earlier in known if plain.shape == earlier.shape and torch.equal(plain, earlier)]
        if equal:
            repeats[node] = equal[0]
        else:
            known.append((node, plain))
    return repeats


@dataclass(frozen=True, slots=True, eq=False)
class TracedTensor:
    """One tensor of the answer: the result of an operation with its line, or an argument with its name.

    `lines` are those that its numbers come from, and `caller` is the line that called its own; see `Traced`.
    `total` is its sum.
    """

    values: Tensor
    line: int = 0
    argument: str = ""
    lines: frozenset[int] = frozenset()
    caller: int = 0
    total: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", float(self.values.sum()))


@dataclass(frozen=True, eq=False)  # no slots: what was found once is kept in the instance
class Alignment:
    """One call of the answer beside the reference.

    Attributes:
        replay: the reference on the call.
        reference: what it gives, in float64.
        repeats: the nodes that give what an earlier one gave; see `repeats_of`.
        downstream: by node, those that change when it does.
        opaque: the nodes of which that cannot be told; all that come later count as downstream.
        tensors: the answer's, in the order in which they came.
        outputs: what the answer returned.
        tolerance: relative to the largest magnitude of a tensor.
    """

    replay: Replay
    reference: Replayed
    repeats: Mapping[Node, Node | None]
    downstream: Mapping[Node, frozenset[Node]]
    opaque: frozenset[Node]
    tensors: Sequence[TracedTensor]
    outputs: Mapping[str, Tensor]
    tolerance: float

    @property
    def expected(self) -> Values:
        """The reference's values by node."""
        return self.reference.values

    def same(self, values: Tensor, node: Node) -> bool:
        """Return whether `values`, in the shape of a node, are its own."""
        return same(values, self.expected[node], self.tolerance)

    def arrangement(self, tensor: TracedTensor, truth: Tensor, *, sure: bool = False) -> Arrangement | None:
        """Return the arrangement in which a tensor is `truth`; see `matching_arrangement`."""
        return matching_arrangement(tensor.values, truth, self.tolerance, sure=sure, total=tensor.total)

    @cached_property
    def distinctive(self) -> dict[Node, Tensor]:
        """The nodes whose numbers are new, and different enough to be told from others."""
        nodes = self.expected.items()
        return {node: values for node, values in nodes if node not in self.repeats and is_distinctive(values)}

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """The steps, in the order of their first results."""
        return tuple(dict.fromkeys(node.step for node in self.expected))

    @cached_property
    def _arrangements(self) -> dict[int, dict[Node, Arrangement]]:
        """By tensor of the answer, the nodes that it is, each with the arrangement."""
        arrangements: dict[int, dict[Node, Arrangement]] = {id(tensor): {} for tensor in self.tensors}
        for tensor in self.tensors:
            for node, truth in self.distinctive.items():
                self.replay.effort.use(GLANCE)
                if (arrangement := self.arrangement(tensor, truth)) is not None:
                    arrangements[id(tensor)][node] = arrangement
        return arrangements

    @cached_property
    def nodes(self) -> dict[int, frozenset[Node]]:
        """By tensor of the answer, the nodes that it is; those that are none are left out."""
        return {key: frozenset(matches) for key, matches in self._arrangements.items() if matches}

    def nodes_of(self, tensor: TracedTensor) -> frozenset[Node]:
        """Return the nodes that a tensor is."""
        return self.nodes.get(id(tensor), frozenset())

    @cached_property
    def matched(self) -> dict[Node, TracedTensor]:
        """The nodes that the answer has too, and the first of its tensors that is each of them.

        A tensor that has the form of one node is not taken for another that differs by axes merged or split.
        """
        plain: dict[Node, TracedTensor] = {}
        loose: dict[Node, TracedTensor] = {}
        for tensor in reversed(self.tensors):  # so that the first one stays
            matches = self._arrangements[id(tensor)]
            formed = [node for node, arrangement in matches.items() if arrangement.plain]
            plain |= dict.fromkeys(formed, tensor)
            loose |= {} if formed else dict.fromkeys(matches, tensor)
        return {**loose, **plain}

    def exact(self, node: Node) -> TracedTensor | None:
        """Return the answer's tensor that is a node, or what that merely repeats, in an arrangement without doubt."""
        origin = node if node in self.matched else self.repeats.get(node) or node
        tensor = self.matched.get(origin)
        return tensor if tensor and self.arrangement(tensor, self.expected[origin], sure=True) else None

    @cached_property
    def confirmed(self) -> frozenset[Node]:
        """The nodes that are right in the answer: matched, or needed for what is."""
        matched = self.matched.keys()
        clear = (node for node in self.reference.order if node not in self.opaque)
        return frozenset(node for node in clear if node in matched or self.downstream[node] & matched)

    def last_matched(self, among: set[Node]) -> dict[Node, TracedTensor]:
        """Return those of `among` that the answer has, and from which no other of them follows."""
        inside = among & self.matched.keys()
        ends = (node for node in self.expected if node in inside and not self.downstream[node] & inside)
        return {node: self.matched[node] for node in ends}

    @cached_property
    def rank(self) -> dict[int, int]:
        """When each tensor of the answer was there."""
        return {id(tensor): index for index, tensor in enumerate(self.tensors)}

    @cached_property
    def unmatched(self) -> dict[int, list[TracedTensor]]:
        """The answer's results that are no node, by the number of their elements."""
        unmatched: dict[int, list[TracedTensor]] = defaultdict(list)
        for tensor in self.tensors:
            if tensor.line and id(tensor) not in self.nodes:
                unmatched[tensor.values.numel()].append(tensor)
        return unmatched

    @cached_property
    def has_nan(self) -> bool:
        """Whether the answer's outputs have NaN, which comes out of many different tensors alike."""
        return any(bool(values.isnan().any()) for values in self.outputs.values())

    def with_values(self, values: Values) -> Replayed | None:
        """Return what the reference gives with these values in the place of its own; each question is asked once."""
        key = frozenset((node, value.shape, value.numpy().tobytes()) for node, value in values.items())
        if key not in self._replayed:
            self._replayed[key] = self.replay.run(values)
        return self._replayed[key]

    @cached_property
    def _replayed(self) -> dict[Hashable, Replayed | None]:
        return {}


def align(answer: WrongAnswer, call: Call, effort: Effort, *, tolerance: float = 0.0) -> Alignment | None:
    """Return the answer beside the reference on one call; None where nothing can be compared.

    `tolerance` is relative to the largest magnitude of a tensor; that of the verdict if it is zero.
    """
    traced, before = answer.traced_alone(call), answer.seen(call)
    if traced is None or traced.raised is not None or before is None:
        return None
    tolerance = tolerance or max(answer.tolerance, FLOORS[call.dtype])
    if not _is_repeated(traced, before, tolerance):
        return None
    replay = Replay(_forward(answer.evidence.plan, call), answer.exercise.steps(), answer.cancel, effort)
    arguments = [
        TracedTensor(value.double(), argument=name)
        for name, value in replay.plan.calls[0].arguments.items()
        if isinstance(value, Tensor) and value.is_floating_point()
    ]
    results = list(_results(traced, lines=answer.text.count("\n") + 1))
    reference = replay.begin()
    if reference is None or not 0 < len(reference.order) <= MOST_NODES or not results:
        return None
    if len(reference.order) * effort.done > 2 * effort.most:  # two runs so far; one for each node is to come
        return None
    downstream, opaque = _downstream(replay, reference)
    return Alignment(
        replay,
        reference,
        repeats=repeats_of(reference.values, [tensor.values for tensor in arguments]),
        downstream=downstream,
        opaque=opaque,
        tensors=[*arguments, *results],
        outputs={key: value for key, value in outputs_of(traced).items() if is_output(key)},
        tolerance=tolerance,
    )


def _forward(plan: Plan, call: Call) -> Plan:
    only = plan.only(frozenset({call.name}))
    forward = replace(call, grad_outputs=(), wants=(), max_elements=0, non_contiguous=False)
    return replace(only, calls=(forward,), initial_of=()).in_double()


def _is_repeated(traced: CallSeen, before: CallSeen, tolerance: float) -> bool:
    """Return whether the second run gave what the first did; else nothing that is seen in it says anything."""
    now, then = outputs_of(traced), outputs_of(before)
    return all(
        key in now and torch.allclose(now[key], value, rtol=tolerance, atol=tolerance, equal_nan=True)
        for key, value in then.items()
        if is_output(key)
    )


def _results(traced: CallSeen, lines: int) -> Iterator[TracedTensor]:
    """Yield the results of operations, each once where it stays the same, from lines that there are."""
    last: Traced | None = None
    for result in traced.trace:
        repeated = (
            last is not None
            and last.line in result.lines
            and last.values.shape == result.values.shape
            and torch.equal(last.values, result.values)
        )
        last = result
        if not repeated and result.line <= lines and result.dtype in FLOATS:
            yield TracedTensor(result.values, result.line, lines=result.lines, caller=result.caller)


def _downstream(replay: Replay, right: Replayed) -> tuple[dict[Node, frozenset[Node]], frozenset[Node]]:
    """Return for each node those that change when it does; and the nodes of which that cannot be told."""
    downstream: dict[Node, frozenset[Node]] = {}
    opaque: set[Node] = set()
    for index, node in enumerate(right.order):
        after = replay.run(perturbed=node)
        if after is None:
            opaque.add(node)
            downstream[node] = frozenset(right.order[index + 1 :]) & right.values.keys()
            continue
        now = after.values
        downstream[node] = frozenset(
            other
            for other, before in right.values.items()
            if other not in now or now[other].shape != before.shape or not same(now[other], before, 1e-12)
        ) - {node}
    return downstream, frozenset(opaque)
