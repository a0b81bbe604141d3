"""Chooses the place of every weight: by name where names decide, and otherwise among all that the shapes allow.

Where names and shapes leave several assignments, this counts them and takes one of them. Which one is right cannot be
known here: the box holds no answer. So a plan may ask for another one by its number (`Pick.nth`), or for one that was
described before, in a construction of other sizes (`Pick.places`); `grader.judge.placing` does both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product

from torch import Tensor

from grader.box import layouts, wording
from grader.box.assigning import Assignment, assignments, cost
from grader.box.described import fitting
from grader.box.inventory import Inventory
from grader.box.layouts import Piece
from grader.box.listed import Listed, in_module, likeness
from grader.box.options import Lister
from grader.box.plan import MOST_CHOICES, Holding, Pick, Weight
from grader.box.spots import Option
from grader.box.weights import Absent, Finder
from grader.errors import Ungradable

_FOUND = 1000  # assignments, of which the most likely are kept


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The pieces of each canonical tensor, and those of biases that the contract does not have.

    `count` is the number of assignments that there were to choose from; `places` describes this one, and is empty where
    names and shapes left no choice.
    """

    pieces: Mapping[str, tuple[Piece, ...]]
    superfluous: tuple[Piece, ...]
    count: int = 1
    places: str = ""


class Part:
    """One part of a module with the weights that it holds, by their full names; `listed` is that of all like it."""

    def __init__(self, place: str, inventory: Inventory, members: Mapping[str, Weight], listed: Listed) -> None:
        self._place, self._inventory, self._members, self._listed = place, inventory, members, listed
        self._finder = Finder(inventory, tuple(members.values()))
        self._named: dict[str, tuple[Piece, ...]] = {}
        self._refused: dict[str, Ungradable] = {}  # by the full name of what no name leads to
        for name, weight in members.items():
            try:
                self._named[name] = self._finder.matrix(weight)
            except Ungradable as error:
                self._refused[name] = error

    @cached_property
    def _lister(self) -> Lister:
        """What lists the places by shape; most modules need none, since names decide."""
        return Lister(self._inventory, tuple(self._members.values()))

    @property
    def members(self) -> Mapping[str, Weight]:
        """The weights of this part by their full names."""
        return self._members

    def assignments(self, wanted: Mapping[str, str]) -> list[Assignment | None]:
        """Return the assignments that there are, the most likely first; None stands for the one that names give.

        Raises:
            Ungradable: there is none at all.
        """
        if not wanted and not self._refused and all(map(self._is_clear, self._named)):
            return [None]
        key = likeness(self._inventory, self._members), *wanted.items()
        if key not in self._listed:
            self._listed[key] = self._all(wanted)
        return self._listed[key]

    def _all(self, wanted: Mapping[str, str]) -> list[Assignment | None]:
        options = {name: self._options(name, wanted.get(name, "")) for name in self._members}
        found = list(islice(assignments(options), _FOUND))
        if not found and self._refused:
            raise self._refusal(options)
        ranks = {path: rank for rank, path in enumerate(self._finder.parameters)}
        found.sort(key=lambda assignment: cost(assignment, ranks))
        return [*found[:MOST_CHOICES]] or [None]

    def _refusal(self, options: Mapping[str, list[Option]]) -> Ungradable:
        """Return what to say where the weights do not all have a place."""
        certain = [e for name, e in self._refused.items() if not (isinstance(e, Absent) and options[name])]
        if certain or len(self._refused) == 1:
            return Ungradable(str(next(iter(certain or self._refused.values()))))  # of the class that travels
        return Ungradable(self._finder.too_few([self._members[name].name for name in self._refused]))

    def pieces(self, assignment: Assignment | None) -> tuple[dict[str, tuple[Piece, ...]], list[Piece]]:
        """Return the pieces of each canonical tensor under its full name, and those of superfluous biases.

        Raises:
            Ungradable: a weight has no place for the bias that the contract gives it.
        """
        found: dict[str, tuple[Piece, ...]] = {}
        superfluous: list[Piece] = []
        own = self._finder.parameters
        matrices = {
            n: self._named[n] if assignment is None else in_module(assignment[n].pieces, own) for n in self._members
        }
        taken = {id(piece.parameter) for pieces in matrices.values() for piece in pieces}
        for name, weight in self._members.items():
            option = None if assignment is None else assignment[name]
            bias = self._bias(name, option, matrices[name], taken)
            found[name] = self._placed(matrices[name])
            superfluous += self._placed(self._further(option))
            if weight.bias is not None and (option is None or option.parts == 1):  # else others have their part of it
                taken |= {id(piece.parameter) for piece in bias if piece.start == 0}
            if weight.bias is None:
                superfluous += self._placed(bias)
            elif bias:
                found[f"{name}.bias"] = self._placed(bias)
            else:
                raise Ungradable(_biasless(name, weight.biased_by, found[name][0].path))
        return found, superfluous

    def _is_clear(self, name: str) -> bool:
        """Return whether the shapes of what was found under a name leave no other layout."""
        weight, pieces = self._members[name], self._named[name]
        if weight.holding is not Holding.PROJECTION:
            return True
        parameters = {piece.path: piece.parameter for piece in pieces}
        if len(parameters) > weight.heads:
            return False  # one for each head, of a weight whose columns are not those of heads: its rows may be
        if sum(parameter.numel() for parameter in parameters.values()) != weight.matrix.numel():
            return False
        return all(
            len(set(parameter.shape)) == parameter.dim() or (self._finder.is_linear(path) and not weight.either)
            for path, parameter in parameters.items()
        )

    def _options(self, name: str, wanted: str) -> list[Option]:
        """Return the places that are tried for a weight, the doubts about each added to its rarity."""
        weight, named = self._members[name], self._named.get(name)
        listed = self._lister.of(weight, {piece.path for piece in named} if named and not wanted else ())
        asked = [o for o in listed if o.key == wanted] or [o for o in listed if wanted in o.keys_by_heads]
        if asked:
            return asked[:1]
        if named is not None:
            return self._as_named(named, listed)
        taken = {piece.path for pieces in self._named.values() for piece in pieces}
        free = [option for option in listed if not taken.intersection(option.paths)] or listed
        said = self._as_said(weight.name, free)
        return [replace(option, rarity=option.rarity + _doubt(weight.name, option)) for option in said]

    def _as_named(self, named: tuple[Piece, ...], listed: list[Option]) -> list[Option]:
        """Return the layouts in which a weight may lie that was found by its name: in the same place, in that order."""
        paths, canonical = {piece.path for piece in named}, [weight.name for weight in self._members.values()]
        alike = [option for option in listed if set(option.paths) == paths and _in_order(option.family, canonical)]
        first = next((option for option in alike if _same(option.pieces, named)), None)
        own = first or Option(named, tuple(dict.fromkeys(piece.path for piece in named)), "named", 0.0, 0, _no_bias)
        others = [replace(option, rarity=1.0 + option.rarity) for option in alike if option is not first]
        return [replace(own, rarity=0.0), *others]

    def _as_said(self, name: str, free: list[Option]) -> list[Option]:
        """Return the options that the words in their names do not speak against, unless they speak against all."""
        meant = wording.ROLES.get(name.rpartition(".")[2])
        if meant is None:
            return free
        roles = {wording.ROLES.get(member.name, "") for member in self._members.values()}
        said = [(wording.role(option.paths[0]), option) for option in free]
        return (
            [option for role, option in said if role == meant]
            or [option for role, option in said if role not in roles or role == ""]
            or free
        )

    def _bias(self, name: str, option: Option | None, matrix: tuple[Piece, ...], taken: set[int]) -> tuple[Piece, ...]:
        weight = self._members[name]
        if option is None or option.layout == "named" or weight.holding is not Holding.PROJECTION:
            return self._finder.bias(weight, matrix)
        beside = self._beside(option)
        if beside and (option.added or len(beside) == len(option.paths)):
            return option.vector(beside[:1] if option.added else beside)
        if own := self._finder.bias(weight, matrix):
            return own
        return self._left_over(weight, option, taken) if weight.bias is not None else ()

    def _beside(self, option: Option) -> list[tuple[str, Tensor]]:
        """Return the biases of the layers that an option takes."""
        paths = (layouts.bias_path(path) for path in option.paths)
        return [(path, self._finder.parameters[path]) for path in paths if path in self._finder.parameters]

    def _further(self, option: Option | None) -> tuple[Piece, ...]:
        """Return all biases but the first where they are added up, so that the first one is the whole."""
        rest = self._beside(option)[1:] if option is not None and option.added else []
        return tuple(piece for one in rest if option is not None for piece in option.vector([one]))

    def _left_over(self, weight: Weight, option: Option, taken: set[int]) -> tuple[Piece, ...]:
        """Return a bias that no name tells: a vector of the right length that nobody has taken yet."""
        meant = wording.ROLES.get(weight.name)
        vectors = [
            (path, parameter)
            for path, parameter in self._finder.parameters.items()
            if parameter.numel() == option.total and id(parameter) not in taken and not path.endswith(".weight")
        ]
        vectors.sort(key=lambda found: wording.role(found[0]) not in (meant, ""))
        return option.vector(vectors[:1]) if vectors else ()

    def _placed(self, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
        path = self._place
        return tuple(replace(piece, path=f"{path}.{piece.path}") for piece in pieces) if path else tuple(pieces)


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """The parts of a module, and the path of each part that its name did not tell, by the contract's name for it."""

    parts: Sequence[Part]
    told: Mapping[str, str]

    @property
    def key(self) -> list[str]:
        """Return where the parts are, in words that mean the same in constructions of other sizes."""
        return [f"{scope}@={path}" for scope, path in self.told.items()]


def choose(placements: Sequence[Placement], pick: Pick) -> Chosen:
    """Return the assignment that `pick` asks for, for all parts of a module together.

    Raises:
        Ungradable: a weight has no place at all, or there is no assignment of that number.
    """
    names = {name for placement in placements for part in placement.parts for name in part.members}
    lines = fitting(pick.places, names)
    wanted = dict(line.partition("=")[::2] for line in lines)
    asked = [placement for placement in placements if placement.key and set(placement.key) <= set(lines)]
    together = list(islice(_together(asked or placements, wanted), MOST_CHOICES))
    if pick.nth >= len(together):
        raise Ungradable(f"there is no assignment {pick.nth} of your weights, only {len(together)}")
    placement, assignments = together[pick.nth]
    pieces: dict[str, tuple[Piece, ...]] = {}
    superfluous: list[Piece] = []
    described = placement.key
    for part, assignment in zip(placement.parts, assignments, strict=True):
        found, extra = part.pieces(assignment)
        pieces |= found
        superfluous += extra
        described += [f"{name}={option.key}" for name, option in (assignment or {}).items()]
    return Chosen(pieces, tuple(superfluous), len(together), "\n".join(described))


def _together(
    placements: Sequence[Placement], wanted: Mapping[str, str]
) -> Iterator[tuple[Placement, tuple[Assignment | None, ...]]]:
    """Yield every placement with every assignment in its parts.

    Raises:
        Ungradable: there is none.
    """
    refusal: Ungradable | None = None
    none = True
    for placement in placements:
        try:
            lists = [part.assignments(wanted) for part in placement.parts]
        except Ungradable as error:
            refusal = refusal or error
            continue
        for chosen in product(*lists):
            none = False
            yield placement, chosen
    if none and refusal is not None:
        raise refusal


def _doubt(name: str, option: Option) -> float:
    """Return what the words in a place's name say against it, where the contract speaks of other things."""
    likely, role = wording.LIKELY.get(name, ()), wording.role(option.paths[0])
    return 1.0 if likely and role and role not in likely else 0.0


def _in_order(family: str, canonical: Sequence[str]) -> bool:
    """Return whether the parts of a fused place follow each other as in the contract: its name says so much."""
    members = family.split(">") if family else []
    return members == [name for name in canonical if name in members]


def _same(pieces: Sequence[Piece], others: Sequence[Piece]) -> bool:
    """Return whether two lists of pieces show the same memory as the same columns."""
    return _spots(pieces) == _spots(others)


def _spots(pieces: Sequence[Piece]) -> list[tuple[object, ...]]:
    views = [(piece, piece.view(piece.parameter.detach())) for piece in pieces]
    return [(p.path, p.start, p.stop, view.storage_offset(), view.shape, view.stride()) for p, view in views]


def _no_bias(found: object) -> tuple[Piece, ...]:
    return ()


def _biasless(name: str, by: str, path: str) -> str:
    if by:
        what = f"in this case, where `{by}` is True, but `{path}` has none; pass `{by}` on to its layer, as `bias={by}`"
    else:
        what = f"here, but `{path}` has none; create its layer with `bias=True`"
    return f"`{name}` must have a bias {what}"
