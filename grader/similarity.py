"""Which works of a class share what few others have: pairs ranked within the class, with the lines that they share.

It is evidence to be read side by side. There is no threshold and no verdict, and no number without its place.

A work is read as tokens and never parsed, so that what is no Python, or nested deeply, is compared like the rest. Each
statement is written without what can be changed at no cost: comments, docstrings, annotations, imports, round brackets
and layout; each name that the author chose is `V`, each string `S`. What torch and Python call their own stays. A
*fragment* is four tokens in a row of one statement, with its ends as tokens. Where a statement stands plays no part,
so that statements and functions in another order share the same fragments.

Ignored is what stands in a text that everybody has, and what more than half of the works have. Of the rest a fragment
weighs the more the fewer have it. All of this is counted in whole numbers, so that the order is the same everywhere.

Not found: an answer that was written anew from another one's idea, a copy of what everybody may have, and what more
than half of a class have copied; less often, a copy with other operations (`torch.matmul` for `@`). What stands behind
the first 20,000 tokens of a work is not compared.
Source: Schleimer, Wilkerson, Aiken, Winnowing: Local Algorithms for Document Fingerprinting (SIGMOD 2003), sections 2
and 5. We differ: all fragments are kept, as works are short; they end with their statement; and rare ones count more.
"""

from __future__ import annotations

import builtins
import keyword
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from grader.errors import Rejected
from grader.examples import read_examples
from grader.exercise.catalog import Exercise
from grader.judge.source import is_name, is_text, logical_lines, python_of

MOST_PAIRS = 100
MOST_PASSAGES = 200  # of a pair, the first ones
LONGEST = 256 << 10  # characters, as the longest hand-in has
MOST_TOKENS = 20_000  # of a work; a file of 64 KiB as people write it has 12,000
_SIZE = 4  # tokens of a fragment
_BITS = 16  # of a token's number: four fit into the 64 bits of a fragment
_MOST_NUMBERS = (1 << _BITS) - 1
_IN_FEW = 3  # works; what so many have is not ignored, in however small a class
_UNIT = 100  # weights are counted in hundredths of a bit, and whole
_HARDLY_ANYTHING = 30 * _UNIT  # beside this weight little is left of a work: to share half of nearly nothing is no news
_TIMES = 4  # that a fragment may come sooner or later there
_PART = 4  # of a statement that has to be shared
_COLUMNS = 4096  # fragments that are multiplied at once: 300 works take 10 MB
_KNOWN = frozenset({*keyword.kwlist, *dir(builtins)})
_DROPPED = frozenset("(),:;")

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClassWork:
    """What somebody handed in: Python, as `python_of` gives it for a notebook.

    Works of one `owner` are not compared with each other, nor are two that are both `earlier`: of another term.
    """

    id: str
    owner: str
    text: str
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """Statements that follow each other in both works: first and last line, from 1, in the left and the right one."""

    left: tuple[int, int]
    right: tuple[int, int]


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two works that share something, and its place among the `pairs` of the class.

    Attributes:
        left, right: the works' ids. Where one is of an earlier term it is the right one.
        strength: the share of what both have of their own that is in both, from 0 to 1; to be shown with its place.
        stronger, weaker: how many pairs of the class share more, and less. A pair with an earlier term is none of them.
        pairs: how many pairs the class has.
        passages: what they share, in the order of the left work.
    """

    left: str
    right: str
    strength: float
    stronger: int
    weaker: int
    pairs: int
    passages: tuple[Passage, ...]

    @property
    def percentile(self) -> float:
        """The pairs of the class that share less, of a hundred."""
        return 100 * self.weaker / self.pairs if self.pairs else 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The pairs that share most, that one first; and the works of which nothing is left beside what is ignored."""

    pairs: tuple[SimilarPair, ...]
    without_own: tuple[str, ...]


def compare(works: Sequence[ClassWork], common: Sequence[str], *, most: int = MOST_PAIRS) -> Comparison:
    r"""Return at most `most` pairs that share something, the one that shares most first; equal ones by their ids.

    Time and memory grow with the works' length and with the square of their number; the answer is bounded.

    Args:
        works: of one exercise, each with another id.
        common: what everybody may have; `common_texts` has it for an exercise.
        most: how many pairs are returned.

    Example:
        >>> text = "def f(x):\n    return (x - x.amax()).exp().sum()\n"
        >>> other = "def f(scores):\n    return (scores - scores.amax()).exp().sum()\n"
        >>> [pair] = compare([ClassWork("1", "ann", text), ClassWork("2", "ben", other)], ()).pairs
        >>> pair.left, pair.right, pair.stronger, pair.passages
        ('1', '2', 0, (Passage(left=(1, 2), right=(1, 2)),))
    """
    if len(works) < 2:
        return Comparison((), ())
    works = sorted(works, key=lambda work: (work.earlier, work.id))
    reader = _Reader()
    everybodys = [reader.read(text) for text in common]
    kept, weights = _weighed([reader.read(work.text) for work in works], everybodys)
    strengths = _strengths([np.unique(one.fragments) for one in kept], weights)
    rows, columns = np.triu_indices(len(works), 1)
    earlier = np.array([work.earlier for work in works])
    owners = np.unique([work.owner for work in works], return_inverse=True)[1]
    asked = ~earlier[rows] & (owners[rows] != owners[columns])
    rows, columns = rows[asked], columns[asked]
    found = strengths[rows, columns]
    of_class = np.sort(found[~earlier[columns]])
    weaker = np.searchsorted(of_class, found, side="left")
    stronger = len(of_class) - np.searchsorted(of_class, found, side="right")
    pairs = tuple(
        SimilarPair(
            works[rows[at]].id,
            works[columns[at]].id,
            round(float(found[at]), 4),
            int(stronger[at]),
            int(weaker[at]),
            len(of_class),
            _passages(kept[rows[at]], kept[columns[at]]),
        )
        for at in np.argsort(-found, kind="stable")[:most]
        if found[at] > 0
    )
    return Comparison(pairs, tuple(work.id for work, left in zip(works, kept, strict=True) if not len(left.fragments)))


def common_texts(exercise: Exercise) -> list[str]:
    """Return what everybody may have of an exercise: starter, code of the statement, reference, right examples.

    An installation without the folder `examples/`, as from a wheel, has none of these.

    Raises:
        AuthorError: one of the files cannot be read, or an example does not say its verdict.
    """
    texts = [exercise.starter, *_code_of(exercise.statement)]
    paths = [one.path for one in read_examples(exercise.folder) if one.loses is None]
    for path in (exercise.reference_path, *paths):
        text = path.read_text(encoding="utf-8")
        try:
            texts.append(python_of(text))
        except Rejected:  # a notebook that is a bad example on purpose
            texts.append(text)
    return texts


def _code_of(statement: str) -> Iterator[str]:
    """Yield the Python of a statement."""
    block: list[str] | None = None
    for line in statement.split("\n"):
        if block is None and line.rstrip() == "```python":
            block = []
        elif block is not None and line.startswith("```"):
            yield "\n".join(block)
            block = None
        elif block is not None:
            block.append(line)


# ---- from a text to fragments


@dataclass(frozen=True, slots=True)
class _Read:
    """A work: the first and last line of each statement; each fragment, and in which statement it stands."""

    lines: list[tuple[int, int]]
    fragments: Numbers
    places: Numbers


class _Reader:
    """Turns texts into fragments; the same token has the same number in all of them."""

    def __init__(self) -> None:
        self._numbers = {"begin": 0, "end": 1}

    def read(self, text: str) -> _Read:
        """Return the fragments of a text, a number for each; never an error, whatever the text is."""
        text = text[:LONGEST].replace("\r\n", "\n").replace("\r", "\n")
        statements = _statements(text)
        numbers: list[int] = []
        places: list[int] = []
        for place, (_, tokens) in enumerate(statements):
            numbers += (0, *(self._number(token) for token in tokens), 1)
            places += [place] * (len(tokens) + 2)
        flat, where = np.array(numbers, dtype=np.int64), np.array(places, dtype=np.int64)
        starts = np.flatnonzero(where[: 1 - _SIZE] == where[_SIZE - 1 :]) if len(where) >= _SIZE else where[:0]
        fragments = np.zeros(len(starts), dtype=np.int64)
        for step in range(_SIZE):
            fragments = (fragments << _BITS) | flat[starts + step]
        return _Read(_spans(text.split("\n"), [first for first, _ in statements]), fragments, where[starts])

    def _number(self, token: str) -> int:
        """Return a token's number; those that are met after 65,000 others share one."""
        if len(self._numbers) == _MOST_NUMBERS:
            return self._numbers.get(token, _MOST_NUMBERS)
        return self._numbers.setdefault(token, len(self._numbers))


def _statements(text: str) -> list[tuple[int, list[str]]]:
    """Return the first line and the plain tokens of each statement; none of an import. A docstring is one token."""
    found, left = [], MOST_TOKENS
    for first, line in logical_lines(text):
        found.append((first, [] if line[:1] in (["import"], ["from"]) else line[:left]))
        left -= len(found[-1][1])
        if left <= 0:
            break
    own = _own_attributes(line for _, line in found)
    return [(first, list(_plain(line, own))) for first, line in found]


def _own_attributes(lines: Iterable[list[str]]) -> set[str]:
    """Return the methods and attributes that a work gives names to."""
    own = set()
    for line in lines:
        for before, dot, token, behind in zip(["", "", *line], ["", *line], line, [*line[1:], ""], strict=False):
            if dot == "def" or (dot == "." and (before == "self" or behind == "=")):
                own.add(token)
    return own


def _plain(line: list[str], own: set[str]) -> Iterator[str]:
    """Yield the tokens of a statement without what can be changed at no cost."""
    is_def = "def" in line[:2]
    for at, token, depth in _without_annotations(line, is_def):
        if token in _DROPPED:
            continue
        if is_text(token):
            yield "S"
        elif not is_name(token) or token in _KNOWN:
            yield token
        elif at and line[at - 1] == ".":
            yield "V" if token in own else token
        else:  # a keyword of a call is its function's; `a == b` has two signs
            names_argument = depth > 0 and not is_def and _is_assigned(line[at + 1 : at + 3])
            yield token if names_argument else "V"


def _is_assigned(behind: list[str]) -> bool:
    return behind[:1] == ["="] and behind[1:] != ["="]


def _without_annotations(line: list[str], is_def: bool) -> Iterator[tuple[int, str, int]]:
    """Yield place, token and depth in brackets of what is no annotation: of arguments, of a result, of a name."""
    depth, since, until = 0, 0, ""  # an annotation ends with one of `until` at the depth of its beginning
    may_annotate = is_def or all(is_name(first) and first not in keyword.kwlist for first in line[:1])
    for at, token in enumerate(line):
        depth += (token in "([{") - (token in ")]}")
        if until:
            until = "" if depth < since or (depth == since and token in until) else until
        elif is_def and line[at : at + 2] == ["-", ">"]:
            since, until = depth, ":"
        elif may_annotate and depth == is_def and token == ":":
            since, until = depth, ",=" if is_def else "="
        elif token == "=" and not is_def and depth == 0:
            may_annotate = False
        if not until:
            yield at, token, depth


def _spans(lines: list[str], firsts: list[int]) -> list[tuple[int, int]]:
    """Return the first and last line of each statement: up to the next one, without empty lines and comments."""
    spans = []
    for first, following in pairwise([*firsts, len(lines) + 1]):
        last = max(first, following - 1)
        while last > first and lines[last - 1].lstrip()[:1] in ("", "#"):
            last -= 1
        spans.append((first, last))
    return spans


# ---- what two of them share


def _weighed(works: list[_Read], common: list[_Read]) -> tuple[list[_Read], Numbers]:
    """Return the works with the fragments that count, numbered by weight, and the weights in hundredths of a bit.

    What one work alone has is numbered last: it weighs most.
    """
    values, counts = np.unique(np.concatenate([np.unique(work.fragments) for work in works]), return_counts=True)
    ignored = np.concatenate([np.zeros(0, dtype=np.int64), *(text.fragments for text in common)])
    counts_at_all = (counts <= max(len(works) // 2, _IN_FEW)) & ~np.isin(values, ignored)
    order = np.argsort(-counts[counts_at_all], kind="stable")
    numbers = np.full(len(values), -1, dtype=np.int64)
    numbers[np.flatnonzero(counts_at_all)[order]] = np.arange(len(order))
    weights = np.rint(_UNIT * np.log2((len(works) + 1) / counts[counts_at_all][order])).astype(np.int64)
    kept = []
    for work in works:
        own = numbers[np.searchsorted(values, work.fragments)]
        kept.append(_Read(work.lines, own[own >= 0], work.places[own >= 0]))
    return kept, weights


def _strengths(works: list[Numbers], weights: Numbers) -> NDArray[np.float64]:
    """Return for each two works, from their distinct fragments, the weight of what both have over half of all theirs.

    All sums are of whole numbers below 2^53, so that no order of adding changes them.
    """
    own = np.array([weights[work].sum() for work in works])
    shared = np.zeros((len(works), len(works)))
    alone = int(np.searchsorted(weights, round(_UNIT * math.log2(len(works) + 1))))
    for start in range(0, alone, _COLUMNS):
        stop = min(start + _COLUMNS, alone)
        table = np.zeros((len(works), stop - start))
        for row, work in zip(table, works, strict=True):
            row[work[slice(*np.searchsorted(work, (start, stop)))] - start] = 1
        shared += (table * weights[start:stop]) @ table.T
    strengths: NDArray[np.float64] = 2 * shared / (own[:, None] + own[None, :] + _HARDLY_ANYTHING)
    return strengths


def _passages(left: _Read, right: _Read) -> tuple[Passage, ...]:
    """Return which lines of the one are which of the other, by the fragments that their statements share.

    A statement stands beside the one with which it shares most, if that is a quarter of what counts of one of them.
    """
    places: defaultdict[int, list[int]] = defaultdict(list)
    for fragment, place in zip(right.fragments.tolist(), right.places.tolist(), strict=True):
        places[fragment].append(place)
    shared: defaultdict[int, Counter[int]] = defaultdict(Counter)
    seen: Counter[int] = Counter()
    for fragment, place in zip(left.fragments.tolist(), left.places.tolist(), strict=True):
        time = seen[fragment]
        for there in {*places.get(fragment, [])[max(0, time - _TIMES) : time + _TIMES]}:
            shared[place][there] += 1
        seen[fragment] += 1
    here_all, there_all = (np.bincount(one.places, minlength=len(one.lines)) for one in (left, right))
    beside: dict[int, int] = {}
    for here, theirs in sorted(shared.items()):
        following = beside.get(here - 1, -1) + 1
        there = max(theirs, key=lambda one: (theirs[one], one == following, -one))
        if _PART * theirs[there] >= min(here_all[here], there_all[there]):
            beside[here] = there
    runs: list[list[tuple[int, int]]] = []
    for here, there in beside.items():
        if runs and runs[-1][-1] == (here - 1, there - 1):
            runs[-1].append((here, there))
        else:
            runs.append([(here, there)])
    return tuple(
        Passage(
            (left.lines[run[0][0]][0], left.lines[run[-1][0]][1]),
            (right.lines[run[0][1]][0], right.lines[run[-1][1]][1]),
        )
        for run in runs[:MOST_PASSAGES]
    )
