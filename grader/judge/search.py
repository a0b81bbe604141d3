"""Finds the first step of the reference whose result a traced answer has with other numbers.

What a sentence says of it has been shown: the reference, run once more with those numbers in the place of the step's
own, gives the student's outputs, or at least the student's result of a later step. So they are what the student has in
the place of that step, and all that follows it is right, up to there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from grader.checks.compare import hides
from grader.exercise.steps import Place, magnitude
from grader.judge.arrangements import matches, same
from grader.judge.differences import is_rearranged
from grader.judge.replay import Replayed, is_constant, is_telling
from grader.judge.scene import Node, Scene
from grader.judge.swaps import Swap, swaps_of

_NEAR = 3  # steps behind a right result that is not used, which are looked at for a later one


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Where an answer departs from the reference.

    Attributes:
        known: the last results of steps that the student has too, and where.
        first: the first that differ; None where that cannot be shown.
        between: steps before those that do not show in the student's numbers.
        sought: those of `between` that give numbers which could have been found.
        also: later steps that give the same numbers here, and may be what is wrong.
        lines: those of which no result is right, and that the first that differ come from; see `Traced`.
        used: the student has these results as well, in tensors that are right, and goes on with others.
        whole: all that follows from the first that differ is right.
        truths: the reference's values in the places of `first`.
        roles: the step whose result a tensor of `first` is, if it is one of the reference's.
        wrong: those of `first` whose numbers differ; what is right completes a group of results.
        origins: where the numbers of `used` are made in the reference; later steps may lay them out in another way.
        parts: how many results a call of each step gives.
        shared: of the lines that are wrong, those that give right results of the same step too, each with the line that
            called it where it is wrong; 0 where that was so where it is right.
        alike: lines that compute the same numbers independently, one of which should be others.
        exchanged: lines whose right results stand in each other's places, which comes to the same.
    """

    known: Mapping[Place, Node]
    first: Swap | None = None
    between: tuple[str, ...] = ()
    sought: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    lines: frozenset[int] = frozenset()
    used: Mapping[Place, Node] | None = None
    whole: bool = False
    truths: Mapping[Place, Tensor] = field(default_factory=dict)
    roles: Mapping[Place, Place] = field(default_factory=dict)
    wrong: tuple[Place, ...] = ()
    origins: Mapping[Place, Place] = field(default_factory=dict)
    parts: Mapping[str, int] = field(default_factory=dict)
    shared: Mapping[int, int] = field(default_factory=dict)
    alike: tuple[int, ...] = ()
    exchanged: tuple[int, ...] = ()

    @property
    def is_left_behind(self) -> bool:
        """Whether the student has the right results, and another line goes on with others."""
        if not self.used or self.first is None:
            return False
        return {node.line for node in self.used.values()} != {self.first.nodes[place].line for place in self.wrong}


@dataclass(frozen=True, slots=True, eq=False)
class _ProvenSwap:
    """An exchange after which the reference gives what the student has: all outputs (`whole`), or a later result.

    `after` is what it gives then.
    """

    swap: Swap
    whole: bool
    after: Replayed


def search(scene: Scene) -> Found | None:
    """Return where the answer departs from the reference, as far as that can be shown."""
    if all(is_constant(values) for values in scene.outputs.values()):
        return None  # zeros, for one, come out of too much
    for index, step in enumerate(scene.steps):
        departures = _departures(scene, step)
        if (first := next(departures, None)) is None:
            continue
        if _repeats(first):  # numbers of the student's own, nearer to where they are used, say more
            own = (other for other in _departures(scene, step, own=True) if not other.used and not _repeats(other))
            first = next((other for other in own if not _is_shifted(scene, other, first)), first)
        if first.used is None:
            return first
        if _repeats_right(first):  # right results in other places: what comes of them first says more
            own = (other for later in scene.steps[index + 1 :] for other in _departures(scene, later))
            whole = (other for other in own if other.whole and not other.between)
            says_more = next((other for other in whole if not (other.used or _repeats(other))), None)
            if says_more is not None:
                return replace(says_more, exchanged=_exchanged(first))
        # What is right and not used as it is may be right for some steps more: the last one is nearest to the fault.
        near = (_used_later(scene, later, first) for later in scene.steps[index + 1 : index + 1 + _NEAR])
        return [first, *(other for other in near if other is not None)][-1]
    if scene.replay.spent:  # what was not tried may be right as well
        return None
    known = {place: node for place, node in _last(scene, set(scene.places)).items() if scene.right(place) is not None}
    partly = {place.step for place in scene.told if scene.right(place) is None}
    complete = {place: node for place, node in known.items() if place.step not in partly}
    return Found(complete) if complete else None


def _repeats(found: Found) -> bool:
    """Return whether all that stands in the place of a step's results is results of the reference, in other places."""
    return _is_moved(found) and not found.used


def _is_moved(found: Found) -> bool:
    """Return whether all that differs is right results of other places."""
    return found.first is not None and all(found.roles.get(place, place) != place for place in found.wrong)


def is_left_out(found: Found) -> bool:
    """Return whether the numbers that stand in the place of a step's are those that it is given."""
    assert found.first is not None
    if all(node.argument for node in found.first.nodes.values()):
        return True
    if found.used or not found.roles or any(is_rearranged(found.first.values[p], t) for p, t in found.truths.items()):
        return False
    return set(found.roles.values()) <= set(found.known)


def _is_shifted(scene: Scene, found: Found, earlier: Found) -> bool:
    """Return whether numbers are those of `earlier` but for a shift of each row, as before a softmax."""
    assert found.first is not None
    assert earlier.first is not None
    before, after = earlier.first.values, found.first.values
    shifts = [after[place] - before[place] for place in after.keys() & before.keys()]
    return bool(shifts) and all(same(shift, shift[..., :1].expand_as(shift), scene.tolerance) for shift in shifts)


def _exchanged(found: Found) -> tuple[int, ...]:
    """Return the lines of right results that stand in each other's places."""
    assert found.first is not None
    if not found.used:
        return ()
    right = [found.used[place] for place in found.wrong]
    if {node.line for node in right} != {found.first.nodes[place].line for place in found.wrong}:
        return ()
    lines, callers = {node.line for node in right}, {node.caller for node in right}
    return tuple(sorted(callers if len(callers) > len(lines) else lines))


def _repeats_right(found: Found) -> bool:
    """Return whether right results are exchanged for each other, or one stands in the place of another."""
    return _is_moved(found) and bool(found.used)


def _used_later(scene: Scene, step: str, first: Found) -> Found | None:
    """Return the first of the student's tensors that stands in the place of a later step's right result."""
    used = (other for other in _departures(scene, step) if other.used and _follows(scene, other, first))
    return next((other for other in used if not _holds_the_same(scene, other, first)), None)


def _departures(scene: Scene, step: str, *, own: bool = False) -> Iterator[Found]:
    """Yield what can be shown of one step; with `own`, of numbers alone that are nothing of the reference's."""
    after = scene.steps[scene.steps.index(step) + 1 :]
    for proof in _proofs(scene, step, own=own):
        rivals = [rival for later in after for rival in _proofs(scene, later, proof.swap.key)]
        if scene.replay.spent:  # a rival may have been missed
            return
        alike = all(_echoes(scene, rival.swap, proof.swap) for rival in rivals)
        around = scene.replay.steps.inside
        further = (r.swap for r in rivals if any(scene.reach[place] for place in r.swap.nodes))
        also = tuple(dict.fromkeys(swap.step for swap in further if step not in around.get(swap.step, ())))
        if alike and (shown := _first(scene, proof, also)) is not None:
            yield shown


def _follows(scene: Scene, later: Found, earlier: Found) -> bool:
    assert later.first is not None
    assert earlier.first is not None
    return any(scene.reach[place] & later.first.nodes.keys() for place in earlier.first.nodes)


def _holds_the_same(scene: Scene, later: Found, earlier: Found) -> bool:
    assert later.first is not None
    assert earlier.first is not None
    return all(scene.echoes.get(place) in earlier.first.nodes for place in later.first.nodes)


def _echoes(scene: Scene, later: Swap, earlier: Swap) -> bool:
    """Return whether the places of `later` hold in the reference what those of `earlier` hold, in whatever layout."""
    alike = all(_is_among(scene, place, earlier) for place in later.nodes)
    return alike and not set(_open(scene, later)) - set(_open(scene, earlier)) - earlier.nodes.keys()


def _is_among(scene: Scene, place: Place, swap: Swap) -> bool:
    if scene.echoes.get(place) in swap.nodes:
        return True
    values = scene.places[place]
    return any(matches(scene.places[own], values, scene.tolerance) is not None for own in swap.nodes)


def _open(scene: Scene, swap: Swap) -> list[Place]:
    """Return the places on the way to those of `swap` that are not known to be right."""
    own = swap.nodes.keys()
    return [p for p in scene.order if scene.reach[p] & own and p not in own and p not in scene.settled]


def _first(scene: Scene, proof: _ProvenSwap, also: tuple[str, ...]) -> Found | None:
    """Return what may be said of a proof: None if a result before it may differ that is not on its way."""
    own, order = set(proof.swap.nodes), list(scene.order)
    on_the_way = {place for place, moved in scene.reach.items() if moved & own} - own
    earlier = set(order[: min(order.index(place) for place in own)])
    open_ones = [p for p in order if p in on_the_way | earlier and p not in own | scene.settled]
    open_ones = [place for place in open_ones if place.step != proof.swap.step]
    if not proof.whole and any(place not in on_the_way for place in open_ones):
        return None
    if open_ones and scene.undefined:
        return None
    has_right = all(scene.right(place) for place in own)
    if has_right and (_is_denied(scene, proof) or _is_hidden_early(scene, proof.swap)):
        return None
    if not proof.whole and (has_right or all(scene.roles.get(id(node)) for node in proof.swap.nodes.values())):
        return None  # something else differs as well, and both together may be another way to the same numbers
    between = tuple(dict.fromkeys(place.step for place in open_ones if place in on_the_way))
    known = _last(scene, on_the_way)
    if between and not (proof.whole and any(scene.reach[place] for place in own)):
        return None  # what the last step gives, or what differs further on as well, proves nothing of the steps before
    says_much = known or not between or proof.whole
    return _told(scene, proof, Found(known, proof.swap, between, also)) if says_much else None


def _is_hidden_early(scene: Scene, swap: Swap) -> bool:
    """Return whether right numbers are hidden by -inf, and nothing else, at a step that comes before that."""
    for place, values in swap.values.items():
        truth, hidden = scene.places[place], values == -torch.inf
        if not hides(values) or hides(truth):
            return False
        if not same(values.masked_fill(hidden, 0.0), truth.masked_fill(hidden, 0.0), scene.tolerance):
            return False
    return True


def _is_denied(scene: Scene, proof: _ProvenSwap) -> bool:
    """Return whether the student has a right result that would be another one with these numbers in use."""
    own = proof.swap.nodes.keys()
    later = {place for one in own for place in scene.reach[one]} & scene.places.keys() & proof.after.values.keys() - own
    changed = (p for p in later if not same(proof.after.values[p], scene.places[p], scene.tolerance))
    return any(place in scene.found and scene.right(place) is not None for place in changed)


def _told(scene: Scene, proof: _ProvenSwap, found: Found) -> Found:
    """Return `found` with what is needed to say how the numbers of `proof` differ."""
    nodes = dict(proof.swap.nodes)
    wrong = tuple(p for p in nodes if not same(proof.swap.values[p], scene.places[p], scene.tolerance))
    alike = {place: _alike(scene, place, nodes[place]) for place in wrong}
    nodes |= {place: several[-1] for place, several in alike.items() if several}
    used = {place: node for place in nodes if (node := scene.right(place)) is not None}
    known = {place: node for place, node in found.known.items() if scene.right(place) is not None}
    right = {place.step for place in known}
    return replace(
        found,
        first=replace(proof.swap, nodes=nodes),
        known=known,
        used=used if len(used) == len(nodes) else None,
        whole=proof.whole and any(scene.reach[place] for place in nodes),
        truths={place: scene.places[place] for place in nodes},
        sought=tuple(step for step in found.between if step not in right and any(p.step == step for p in scene.told)),
        wrong=wrong,
        lines=frozenset[int]().union(*(_open_lines(scene, nodes[place]) for place in wrong)),
        roles={
            p: min(own & found.known.keys() or own, key=scene.order.index)
            for p, n in nodes.items()
            if (own := scene.roles.get(id(n)))
        },
        origins={place: min(scene.roles[id(node)], key=scene.order.index) for place, node in used.items()},
        parts={place.step: 1 + max(p.part for p in scene.order if p.step == place.step) for place in nodes},
        shared=_shared(scene, proof.swap, wrong),
        alike=tuple(sorted({node.line for several in alike.values() for node in several})),
    )


def _shared(scene: Scene, swap: Swap, wrong: tuple[Place, ...]) -> dict[int, int]:
    """Return the lines of `wrong` that give other results of the step rightly, with what calls them: see `Found`."""
    there = {**{place: node for place, node in scene.found.items() if place.step == swap.step}, **swap.nodes}
    right = [node for place, node in there.items() if place not in wrong]
    callers = {line: {node.caller for node in right if node.line == line} for line in {node.line for node in right}}
    found = [swap.nodes[place] for place in wrong if swap.nodes[place].line in callers]
    return {node.line: 0 if node.caller in callers[node.line] else node.caller for node in found}


def _alike(scene: Scene, place: Place, node: Node) -> list[Node]:
    """Return the tensors with the same numbers that lines compute by themselves; they are right in another place."""
    roles = scene.roles.get(id(node), frozenset()) - {place}
    first = next((scene.found[role] for role in roles if role.step == place.step and role in scene.found), None)
    if first is None or not first.line:
        return []
    own = [one for one in scene.nodes if one.line and roles & scene.roles.get(id(one), frozenset())]
    apart = [first]
    for one in own:
        if not one.lines & {other.line for other in apart}:
            apart.append(one)
    return apart if len(apart) > 1 else []


def _open_lines(scene: Scene, node: Node) -> frozenset[int]:
    """Return the lines that a tensor comes from, but for those that right results before it come from.

    A line on which something else is computed after its right result stays open.
    """
    before = [one for one in scene.nodes if one.line and scene.rank[id(one)] < scene.rank[id(node)]]
    right = {id(own) for place in scene.found if (own := scene.right(place)) is not None}
    settled: set[int] = set()
    for one in before:
        if id(one) in right:
            settled |= one.lines
        elif id(one) not in scene.roles and one.lines <= node.lines:
            settled.discard(one.line)
    return node.lines - settled


def _last(scene: Scene, among: set[Place]) -> dict[Place, Node]:
    """Return those of `among` that the student has, and from which no other of them follows."""
    inside = {place for place in among if place in scene.found}
    return {place: scene.found[place] for place in scene.places if place in inside and not scene.reach[place] & inside}


def _proofs(scene: Scene, step: str, key: frozenset[int] | None = None, *, own: bool = False) -> Iterator[_ProvenSwap]:
    """Yield what is proven of a step; with `key`, for these tensors of the student's alone."""
    seen: set[tuple[tuple[Place, int], ...]] = set()
    for swap in swaps_of(scene, step):
        name = tuple((place, id(node)) for place, node in swap.nodes.items())
        if name in seen or (key is not None and swap.key != key) or scene.replay.spent:
            continue
        if own and any(id(node) in scene.roles for node in swap.nodes.values()):
            continue
        if (proof := _proven(scene, swap)) is not None:
            seen.add(name)
            yield proof


def _proven(scene: Scene, swap: Swap) -> _ProvenSwap | None:
    """Return the proof that the reference, with an exchange made, gives the student's outputs or a later result."""
    after = scene.after(swap.values)
    if after is None:
        return None
    if _is_answer(scene, after):
        return _ProvenSwap(swap, whole=True, after=after) if _is_shown(scene, swap) else None
    shown = any(_is_a_result(scene, swap, values) for values in _followers(scene, swap, after))
    return _ProvenSwap(swap, whole=False, after=after) if shown else None


def _is_shown(scene: Scene, swap: Swap) -> bool:
    """Return whether each part of an exchange has a share in what came of it.

    What another call of the same step shows needs no share where it can have none: to scale the scores of one key alone
    changes nothing.
    """
    needed = {place for place in swap.values if _is_needed(scene, swap, place)}
    return all(
        any(place.step == other.step and place.part == other.part for other in needed) and _is_idle(scene, swap, place)
        for place in swap.values.keys() - needed
    )


def _is_idle(scene: Scene, swap: Swap, place: Place) -> bool:
    """Return whether one part of an exchange changes no output by itself."""
    alone, unchanged = scene.after({place: swap.values[place]}), scene.unchanged
    return (
        alone is not None
        and unchanged is not None
        and all(same(values, unchanged.outputs[key], scene.tolerance) for key, values in alone.outputs.items())
    )


def _is_needed(scene: Scene, swap: Swap, place: Place) -> bool:
    """Return whether the outputs are others without one part of an exchange; else that part has not been shown.

    What is right in its own place, and is there to complete a group, needs no showing.
    """
    if same(swap.values[place], scene.places[place], scene.tolerance):
        return True
    others = {other: values for other, values in swap.values.items() if other != place}
    without = scene.after(others) if others else None
    return without is None or not _is_answer(scene, without)


def _is_answer(scene: Scene, after: Replayed) -> bool:
    """Return whether the outputs are the student's; outputs that many numbers lead to, such as zeros, show nothing."""
    if not scene.undefined and not any(is_telling(values) for values in scene.outputs.values()):
        return False
    return after.outputs.keys() == scene.outputs.keys() and all(
        values.shape == scene.outputs[key].shape and same(values, scene.outputs[key], scene.tolerance)
        for key, values in after.outputs.items()
    )


def _followers(scene: Scene, swap: Swap, after: Replayed) -> Iterator[Tensor]:
    """Yield the results that an exchange has changed, but for those that are what was put in, in another layout."""
    moved = {place for own in swap.nodes for place in scene.reach[own]} - set(swap.nodes)
    for place, before in scene.told.items():
        now = after.values.get(place)
        if place not in moved or now is None or now.isnan().any() or not is_telling(now):
            continue
        known = (*swap.values.values(), before)
        scene.replay.effort.compare()
        if now.shape == before.shape and not any(matches(values, now, scene.tolerance) for values in known):
            yield now


def _is_a_result(scene: Scene, swap: Swap, values: Tensor) -> bool:
    """Return whether the student has `values` in a tensor that is nothing of the reference's as it is."""
    key = swap.key
    others = (node for node in scene.others.get(values.numel(), ()) if id(node) not in key)
    total = float(values.sum())
    allowed = values.numel() * scene.tolerance * magnitude(values)  # no layout changes a sum, so this spares most of it
    return any(
        matches(node.values, values, scene.tolerance, sure=True, total=node.total)
        for node in others
        if not abs(node.total - total) > allowed
    )
