"""Finds the first step of the reference whose result a traced answer has with other numbers.

What is said of it has been shown by a substitution: the reference, run once more with the answer's tensors in the place
of the step's own results, gives the answer's outputs, or at least the answer's result of a later step. So they are what
the answer has in the place of that step, and all that follows it is right, up to there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, permutations

import torch
from torch import Tensor

from grader.checks.compare import hides
from grader.exercise.steps import Node, Values, magnitude
from grader.judge.explain.alignment import (
    Alignment,
    TracedTensor,
    arrangements,
    is_distinctive,
    matching_arrangement,
    same,
    same_numbers,
)
from grader.judge.explain.budget import COMPARISON
from grader.judge.explain.trace import Replayed

_NEAR = 3  # steps behind a right result that is not used, which are looked at for a later one
_MOST_ALONE = 40  # candidates for one node
_MOST_TOGETHER = 40  # candidates for all nodes of a step together


@dataclass(frozen=True, slots=True, eq=False)
class Substitution:
    """Nodes of one step, and the answer's tensors that may stand in their places, with their values laid out so."""

    step: str
    tensors: Mapping[Node, TracedTensor]
    values: Values

    @property
    def key(self) -> frozenset[int]:
        """Which tensors of the answer they are."""
        return frozenset(id(tensor) for tensor in self.tensors.values())


@dataclass(frozen=True, slots=True, eq=False)
class Divergence:
    """Where an answer departs from the reference.

    Attributes:
        step, tensors, values: the first nodes that differ, and what stands in their places; see `Substitution`.
        right: the last nodes before them that the answer has too, and where.
        expected: the reference's values of the nodes that differ.
        wrong: those of them whose numbers differ; what is right completes a group of results.
        whole: all that follows from them is right.
        between: steps before them that do not show in the answer's numbers.
        missing: those of `between` that give numbers which could have been matched.
        lines: those of which no result is right, and that the first that differ come from; see `Traced`.
        bypassed: the answer has these nodes as well, in tensors that are right, and goes on with others; all or none.
        origins: where the numbers of `bypassed` are made in the reference; later steps may lay them out in another way.
        stands_for: the node that a substituted tensor is, if it is one.
        parts: how many results a call of the step gives.
        shared: of the lines that are wrong, those that give right results of the same step too, each with the line that
            called it where it is wrong; 0 where that was so where it is right.
        duplicates: lines that compute the same numbers independently, one of which should be others.
        exchanged: lines whose right results stand in each other's places, which comes to the same.
    """

    step: str
    tensors: Mapping[Node, TracedTensor]
    values: Values
    right: Mapping[Node, TracedTensor]
    expected: Values
    wrong: tuple[Node, ...]
    whole: bool
    between: tuple[str, ...]
    missing: tuple[str, ...]
    lines: frozenset[int]
    bypassed: Mapping[Node, TracedTensor]
    origins: Mapping[Node, Node]
    stands_for: Mapping[Node, Node]
    parts: int
    shared: Mapping[int, int]
    duplicates: tuple[int, ...]
    exchanged: tuple[int, ...] = ()

    @property
    def is_left_behind(self) -> bool:
        """Whether the answer has the right results, and another line goes on with others."""
        right = {tensor.line for tensor in self.bypassed.values()}
        return bool(right) and right != {self.tensors[node].line for node in self.wrong}

    @property
    def is_moved(self) -> bool:
        """Whether all that differs is right results of other nodes."""
        return all(self.stands_for.get(node, node) != node for node in self.wrong)

    @property
    def is_left_out(self) -> bool:
        """Whether the numbers that stand in the place of a step's are those that it is given."""
        if all(tensor.argument for tensor in self.tensors.values()):
            return True
        if self.bypassed or not self.stands_for:
            return False
        if any(same_numbers(self.values[node], truth) for node, truth in self.expected.items()):
            return False
        return set(self.stands_for.values()) <= set(self.right)


@dataclass(frozen=True, slots=True, eq=False)
class RightOnly:
    """The last nodes that an answer has too, where the first that differs cannot be shown."""

    right: Mapping[Node, TracedTensor]


@dataclass(frozen=True, slots=True, eq=False)
class _Proof:
    """A substitution after which the reference gives what the answer has: all outputs (`whole`), or a later result.

    `after` is what it gives then.
    """

    substitution: Substitution
    whole: bool
    after: Replayed


def search(alignment: Alignment) -> Divergence | RightOnly | None:
    """Return where the answer departs from the reference, as far as that can be shown."""
    if all(bool((values == values.flatten()[:1]).all()) for values in alignment.outputs.values()):
        return None  # zeros, for one, come out of too much
    for index, step in enumerate(alignment.steps):
        if (first := next(_divergences(alignment, step), None)) is None:
            continue
        if first.is_moved and not first.bypassed:  # numbers of its own, nearer to where they are used, say more
            own = (one for one in _divergences(alignment, step, own=True) if not one.bypassed and not one.is_moved)
            first = next((one for one in own if not _is_shifted(one, first, alignment.tolerance)), first)
        if not first.bypassed:
            return first
        later = alignment.steps[index + 1 :]
        if first.is_moved:  # right results in other places: what comes of them first says more
            others = (one for after in later for one in _divergences(alignment, after) if one.whole and not one.between)
            says_more = next((one for one in others if not one.bypassed and not one.is_moved), None)
            if says_more is not None:
                return replace(says_more, exchanged=_exchanged(first))
        # What is right and not used as it is may be right for some steps more: the last one is nearest to the fault.
        near = (_bypassed_later(alignment, after, first) for after in later[:_NEAR])
        return [first, *(one for one in near if one is not None)][-1]
    if alignment.replay.effort.spent:  # what was not tried may be right as well
        return None
    right = alignment.last_matched(set(alignment.expected))
    unsure = {node.step for node in alignment.distinctive if alignment.exact(node) is None}
    right = {node: one for node, one in right.items() if alignment.exact(node) is not None and node.step not in unsure}
    return RightOnly(right) if right else None


def _is_shifted(later: Divergence, earlier: Divergence, tolerance: float) -> bool:
    """Return whether numbers are those of `earlier` but for a shift of each row, as before a softmax."""
    before, after = earlier.values, later.values
    shifts = [after[node] - before[node] for node in after.keys() & before.keys()]
    return bool(shifts) and all(same(shift, shift[..., :1].expand_as(shift), tolerance) for shift in shifts)


def _exchanged(moved: Divergence) -> tuple[int, ...]:
    right = [moved.bypassed[node] for node in moved.wrong]
    lines, callers = {tensor.line for tensor in right}, {tensor.caller for tensor in right}
    if lines != {moved.tensors[node].line for node in moved.wrong}:
        return ()
    return tuple(sorted(callers if len(callers) > len(lines) else lines))


def _bypassed_later(alignment: Alignment, step: str, first: Divergence) -> Divergence | None:
    """Return the first of the answer's tensors that stands in the place of a later step's right result."""
    own = first.tensors.keys()
    after = frozenset[Node]().union(*(alignment.downstream[node] for node in own))
    for later in _divergences(alignment, step):
        nodes = later.tensors.keys()
        if later.bypassed and after & nodes and not all(alignment.repeats.get(node) in own for node in nodes):
            return later
    return None


def _divergences(alignment: Alignment, step: str, *, own: bool = False) -> Iterator[Divergence]:
    """Yield what can be shown of one step; with `own`, of numbers alone that are no node's."""
    later = alignment.steps[alignment.steps.index(step) + 1 :]
    for proof in _proofs(alignment, step, own=own):
        rivals = [r.substitution for other in later for r in _proofs(alignment, other, key=proof.substitution.key)]
        if alignment.replay.effort.spent:  # a rival may have been missed
            return
        if not all(_holds_the_same(alignment, rival, proof.substitution) for rival in rivals):
            continue
        if (shown := _divergence(alignment, proof)) is not None:
            yield shown


def _holds_the_same(alignment: Alignment, later: Substitution, earlier: Substitution) -> bool:
    """Return whether the nodes of `later` hold in the reference what those of `earlier` hold, however arranged."""
    own, expected = earlier.tensors.keys(), alignment.expected
    for node in later.tensors:
        alike = (matching_arrangement(expected[one], expected[node], alignment.tolerance) for one in own)
        if alignment.repeats.get(node) not in own and all(arrangement is None for arrangement in alike):
            return False
    return not set(_unconfirmed(alignment, later)) - set(_unconfirmed(alignment, earlier)) - own


def _unconfirmed(alignment: Alignment, substitution: Substitution) -> list[Node]:
    own = substitution.tensors.keys()
    upstream = (node for node in alignment.reference.order if alignment.downstream[node] & own and node not in own)
    return [node for node in upstream if node not in alignment.confirmed]


def _divergence(alignment: Alignment, proof: _Proof) -> Divergence | None:
    """Return what may be said of a proof: None if a result before it may differ that is not on its way."""
    own, order = set(proof.substitution.values), alignment.reference.order
    step, tensors = proof.substitution.step, proof.substitution.tensors
    upstream = {node for node, moved in alignment.downstream.items() if moved & own} - own
    earlier = set(order[: min(order.index(node) for node in own)])
    unconfirmed = [node for node in order if node in upstream | earlier and node not in own | alignment.confirmed]
    unconfirmed = [node for node in unconfirmed if node.step != step]
    has_right = all(alignment.exact(node) for node in own)
    if not proof.whole and any(node not in upstream for node in unconfirmed):
        return None
    if not proof.whole and (has_right or all(alignment.nodes_of(tensor) for tensor in tensors.values())):
        return None  # something else differs as well, and both together may be another way to the same numbers
    if unconfirmed and alignment.has_nan:
        return None
    if has_right and (_is_denied(alignment, proof) or _is_hidden_early(alignment, proof.substitution)):
        return None
    whole = proof.whole and any(alignment.downstream[node] for node in own)
    between = tuple(dict.fromkeys(node.step for node in unconfirmed if node in upstream))
    if between and not whole:
        return None  # what the last step gives, or what differs further on as well, proves nothing of the steps before
    return _details(alignment, proof.substitution, upstream, whole=whole, between=between)


def _is_denied(alignment: Alignment, proof: _Proof) -> bool:
    """Return whether the answer has a right result that would be another one with these numbers in use."""
    own, after, expected = proof.substitution.tensors.keys(), proof.after.values, alignment.expected
    later = {node for one in own for node in alignment.downstream[one]} & expected.keys() & after.keys() - own
    changed = (node for node in later if not alignment.same(after[node], node))
    return any(node in alignment.matched and alignment.exact(node) is not None for node in changed)


def _is_hidden_early(alignment: Alignment, substitution: Substitution) -> bool:
    """Return whether right numbers are hidden by -inf, and nothing else, at a step that comes before that."""
    for node, values in substitution.values.items():
        truth, hidden = alignment.expected[node], values == -torch.inf
        if not hides(values) or hides(truth):
            return False
        if not same(values.masked_fill(hidden, 0.0), truth.masked_fill(hidden, 0.0), alignment.tolerance):
            return False
    return True


def _details(
    alignment: Alignment, substitution: Substitution, upstream: set[Node], *, whole: bool, between: tuple[str, ...]
) -> Divergence:
    order, expected, values = alignment.reference.order, alignment.expected, substitution.values
    wrong = tuple(node for node in values if not alignment.same(values[node], node))
    duplicates = {node: _duplicates(alignment, node, substitution.tensors[node]) for node in wrong}
    tensors = {**substitution.tensors, **{node: several[-1] for node, several in duplicates.items() if several}}
    last = alignment.last_matched(upstream)
    right = {node: tensor for node, tensor in last.items() if alignment.exact(node) is not None}
    exact = {node: tensor for node in tensors if (tensor := alignment.exact(node)) is not None}
    shown, clear = {node.step for node in right}, {node.step for node in alignment.distinctive}
    same_as = {node: own for node, tensor in tensors.items() if (own := alignment.nodes_of(tensor))}
    return Divergence(
        substitution.step,
        tensors,
        values,
        right=right,
        expected={node: expected[node] for node in tensors},
        wrong=wrong,
        whole=whole,
        between=between,
        missing=tuple(step for step in between if step not in shown and step in clear),
        lines=frozenset[int]().union(*(_unsettled_lines(alignment, tensors[node]) for node in wrong)),
        bypassed=exact if len(exact) == len(tensors) else {},
        origins={node: min(alignment.nodes_of(tensor), key=order.index) for node, tensor in exact.items()},
        stands_for={node: min(own & last.keys() or own, key=order.index) for node, own in same_as.items()},
        parts=1 + max(node.part for node in order if node.step == substitution.step),
        shared=_shared(alignment, substitution, wrong),
        duplicates=tuple(sorted({tensor.line for several in duplicates.values() for tensor in several})),
    )


def _shared(alignment: Alignment, substitution: Substitution, wrong: tuple[Node, ...]) -> dict[int, int]:
    """Return the lines of `wrong` that give other results of the step rightly, with what calls them."""
    own = {node: tensor for node, tensor in alignment.matched.items() if node.step == substitution.step}
    right = [tensor for node, tensor in {**own, **substitution.tensors}.items() if node not in wrong]
    callers: dict[int, set[int]] = defaultdict(set)
    for tensor in right:
        callers[tensor.line].add(tensor.caller)
    off = [substitution.tensors[node] for node in wrong if substitution.tensors[node].line in callers]
    return {tensor.line: 0 if tensor.caller in callers[tensor.line] else tensor.caller for tensor in off}


def _duplicates(alignment: Alignment, node: Node, tensor: TracedTensor) -> list[TracedTensor]:
    """Return the tensors with the same numbers that lines compute by themselves; they are right as another node."""
    others = alignment.nodes_of(tensor) - {node}
    first = next((alignment.matched[one] for one in others if one.step == node.step and one in alignment.matched), None)
    if first is None or not first.line:
        return []
    apart = [first]
    for one in alignment.tensors:
        if one.line and others & alignment.nodes_of(one) and not one.lines & {other.line for other in apart}:
            apart.append(one)
    return apart if len(apart) > 1 else []


def _unsettled_lines(alignment: Alignment, tensor: TracedTensor) -> frozenset[int]:
    """Return the lines that a tensor comes from, but for those that right results before it come from.

    A line on which something else is computed after its right result stays open.
    """
    right = {id(own) for node in alignment.matched if (own := alignment.exact(node)) is not None}
    settled: set[int] = set()
    for one in alignment.tensors[: alignment.rank[id(tensor)]]:
        if one.line and id(one) in right:
            settled |= one.lines
        elif one.line and id(one) not in alignment.nodes and one.lines <= tensor.lines:
            settled.discard(one.line)
    return tensor.lines - settled


def _proofs(
    alignment: Alignment, step: str, *, key: frozenset[int] | None = None, own: bool = False
) -> Iterator[_Proof]:
    """Yield what is proven of a step; with `key`, for these tensors of the answer alone; `own` as in `_divergences`."""
    proven: set[tuple[tuple[Node, int], ...]] = set()
    for substitution in _substitutions(alignment, step):
        name = tuple((node, id(tensor)) for node, tensor in substitution.tensors.items())
        if name in proven or (key is not None and substitution.key != key) or alignment.replay.effort.spent:
            continue
        if own and any(alignment.nodes_of(tensor) for tensor in substitution.tensors.values()):
            continue
        if (after := alignment.with_values(substitution.values)) is None:
            continue
        whole = _is_answer(alignment, after)
        if _is_needed(alignment, substitution) if whole else _gives_a_later_result(alignment, substitution, after):
            proven.add(name)
            yield _Proof(substitution, whole, after)


def _is_answer(alignment: Alignment, after: Replayed) -> bool:
    """Return whether the outputs are the answer's; outputs that many numbers lead to, such as zeros, show nothing."""
    if not alignment.has_nan and not any(is_distinctive(values) for values in alignment.outputs.values()):
        return False
    return _has_outputs(alignment, after, alignment.outputs)


def _has_outputs(alignment: Alignment, after: Replayed, outputs: Mapping[str, Tensor]) -> bool:
    return after.outputs.keys() == outputs.keys() and all(
        values.shape == outputs[key].shape and same(values, outputs[key], alignment.tolerance)
        for key, values in after.outputs.items()
    )


def _is_needed(alignment: Alignment, substitution: Substitution) -> bool:
    """Return whether each part of a substitution has a share in what came of it: else that part has not been shown.

    What is right as it is, and is there to complete a group, needs no showing. What another call of the same step shows
    needs no share where it can have none: to scale the scores of one key alone changes nothing.
    """
    values, idle = substitution.values, []
    for node in values:
        rest = {other: value for other, value in values.items() if other != node}
        without = alignment.with_values(rest) if rest and not alignment.same(values[node], node) else None
        if without is not None and _is_answer(alignment, without):
            idle.append(node)
    for node in idle:
        if not any(node.part == other.part for other in values if other not in idle):
            return False
        alone = alignment.with_values({node: values[node]})
        if alone is None or not _has_outputs(alignment, alone, alignment.reference.outputs):
            return False
    return True


def _gives_a_later_result(alignment: Alignment, substitution: Substitution, after: Replayed) -> bool:
    """Return whether a result that a substitution has changed is the answer's, and no node's as it is.

    What was put in, in another arrangement, does not count.
    """
    own = substitution.tensors.keys()
    moved = {node for one in own for node in alignment.downstream[one]} - own
    for node, before in alignment.distinctive.items():
        now = after.values.get(node)
        if node not in moved or now is None or now.isnan().any() or not is_distinctive(now):
            continue
        alignment.replay.effort.use(COMPARISON)
        known = (*substitution.values.values(), before)
        if now.shape != before.shape or any(matching_arrangement(one, now, alignment.tolerance) for one in known):
            continue
        if _is_unmatched(alignment, now, besides=substitution.key):
            return True
    return False


def _is_unmatched(alignment: Alignment, values: Tensor, besides: frozenset[int]) -> bool:
    total = float(values.sum())
    allowed = (
        values.numel() * alignment.tolerance * magnitude(values)
    )  # no arrangement changes a sum, so this spares most
    return any(
        alignment.arrangement(tensor, values, sure=True)
        for tensor in alignment.unmatched.get(values.numel(), ())
        if id(tensor) not in besides and not abs(tensor.total - total) > allowed
    )


Candidate = tuple[TracedTensor, Tensor]  # a tensor of the answer, and its values as they are laid out


def _substitutions(alignment: Alignment, step: str) -> Iterator[Substitution]:
    """Yield what may stand in the places of a step's nodes, in one of them or in all."""
    nodes = [node for node in alignment.expected if node.step == step]
    candidates = {node: list(_candidates(alignment, node)) for node in nodes}
    alone = (
        Substitution(step, {node: tensor}, {node: values})
        for node in nodes
        for tensor, values in islice(candidates[node], _MOST_ALONE)
    )
    missing = [node for node in nodes if node not in alignment.matched]
    groups = [group for group in dict.fromkeys((tuple(nodes), tuple(missing))) if len(group) > 1]
    together = (
        Substitution(
            step,
            {node: tensor for node, (tensor, _) in zip(group, chosen, strict=True)},
            {node: values for node, (_, values) in zip(group, chosen, strict=True)},
        )
        for group in groups
        for chosen in islice(_together(alignment, group, candidates), _MOST_TOGETHER)
    )
    yield from chain(together, alone) if missing == nodes else chain(alone, together)  # all wrong: none is so alone


def _candidates(alignment: Alignment, node: Node) -> Iterator[Candidate]:
    """Yield the answer's tensors that may stand in the place of a node and have other numbers.

    What is right in its own place is taken as it is, and nothing that follows from the node. Where the answer has the
    node itself, what is used in its place must have the same form.
    """
    truth, loose = alignment.expected[node], list[Candidate]()
    matched = alignment.matched.get(node)
    if node in alignment.confirmed and (matched is None or alignment.has_nan):
        return
    for tensor in alignment.tensors:
        own = alignment.nodes_of(tensor)
        if own & alignment.downstream[node]:
            continue
        if matched and not own and tensor.line and alignment.rank[id(tensor)] < alignment.rank[id(matched)]:
            continue  # it was there before the right result, so that cannot have been changed into it
        formed_alike = matched or own or not tensor.line
        if alignment.replay.effort.spent:
            return
        for arrangement in arrangements(tensor.values, truth.shape):
            alignment.replay.effort.use(COMPARISON)
            if (formed_alike and not arrangement.still) or alignment.same(arrangement.values, node):
                continue
            if arrangement.plain:
                yield tensor, arrangement.values
            else:
                loose.append((tensor, arrangement.values))
    yield from loose


def _together(
    alignment: Alignment, group: tuple[Node, ...], candidates: Mapping[Node, Sequence[Candidate]]
) -> Iterator[tuple[Candidate, ...]]:
    """Yield what may stand for several nodes at once: for each head, or for queries, keys and values."""
    yield from _permuted(alignment, group)
    elsewhere = []  # for each node the first tensor that has the same numbers in other places
    for node in group:
        truth = alignment.expected[node]
        alike = (one for one in candidates[node] if same_numbers(one[1], truth, alignment.tolerance))
        if (first := next(alike, None)) is None:
            break
        elsewhere.append(first)
    else:
        yield tuple(elsewhere)
    yield from _in_a_row(group, candidates)


def _permuted(alignment: Alignment, group: tuple[Node, ...]) -> Iterator[tuple[Candidate, ...]]:
    truths = [alignment.expected[node] for node in group]
    if len(group) > 3 or len({truth.shape for truth in truths}) > 1:
        return
    right: list[Candidate] = []
    for truth in truths:
        own = (tensor for tensor in alignment.tensors if alignment.arrangement(tensor, truth))
        right += [(tensor, truth) for tensor in islice(own, 1)]
    if len(right) == len(group):
        yield from islice(permutations(right), 1, None)


def _in_a_row(
    group: tuple[Node, ...], candidates: Mapping[Node, Sequence[Candidate]]
) -> Iterator[tuple[Candidate, ...]]:
    """Yield tensors of one shape that follow each other: on one line, so many apart, or one after the other."""
    count = len(group)
    if len({candidates[node][0][1].shape for node in group if candidates[node]}) != 1:
        return
    firsts = {node: {id(one[0]): one for one in reversed(candidates[node])} for node in group}
    by_line: dict[tuple[int, torch.Size], list[TracedTensor]] = defaultdict(list)
    by_shape: dict[torch.Size, list[TracedTensor]] = defaultdict(list)
    for tensor in dict.fromkeys(tensor for node in group for tensor, _ in candidates[node]):
        by_line[tensor.line, tensor.values.shape].append(tensor)
        by_shape[tensor.values.shape].append(tensor)
    rows = [
        tensors[start :: len(tensors) // count]
        for tensors in by_line.values()
        if len(tensors) % count == 0
        for start in range(len(tensors) // count)
    ]
    rows += [row[start : start + count] for row in by_shape.values() for start in range(len(row) - count + 1)]
    for row in rows:
        if all(id(tensor) in firsts[node] for node, tensor in zip(group, row, strict=True)):
            yield tuple(firsts[node][id(tensor)] for node, tensor in zip(group, row, strict=True))
