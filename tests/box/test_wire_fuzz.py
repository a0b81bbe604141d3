"""The parser of the box's answers under thousands of wrong ones; `python -m benchmarks fuzz` reads a million."""

from __future__ import annotations

import gc
import json
import random
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz import Tally, examine, told
from benchmarks.fuzz_subjects import Subject, record
from benchmarks.pieces import Piece, joined
from grader.box.wire.answer import FIELDS, Frame, FrameReader
from grader.errors import BadAnswer
from grader.exercise.catalog import Catalog
from tests.box.small import attention_plan

ANSWERS = 4_000
_NUMBERS = st.integers() | st.integers(-2, 2) | st.floats(allow_nan=True) | st.booleans() | st.none()
_TEXTS = st.text(st.characters(), max_size=20) | st.sampled_from(["call", "load", "backward", "error", "weights"])
_FIELDS = sorted({name for names in FIELDS.values() for name in names} | {"slots", "gradient"})
_KEYS = st.sampled_from(_FIELDS) | _TEXTS
_VALUES = st.recursive(
    _NUMBERS | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=12,
)
_OBJECTS = st.dictionaries(_KEYS, _VALUES, max_size=10) | st.sampled_from(sorted(FIELDS.values())).flatmap(
    lambda names: st.fixed_dictionaries(dict.fromkeys(names, _VALUES))
)


@pytest.fixture(scope="module")
def subjects() -> list[Subject]:
    """Give recorded answers of all kinds of exercises, and of every training both runs."""
    return record(Catalog.load())


@pytest.fixture(autouse=True)
def _without_the_objects_of_other_tests() -> Iterator[None]:
    """Have the collector of garbage look at new objects only: with those of thousands of tests it takes a second."""
    gc.freeze()
    yield
    gc.unfreeze()


def test_no_wrong_answer_raises_breaks_or_depends_on_how_it_is_cut(subjects: list[Subject]) -> None:
    """Bits, lengths, frames and JSON are told wrongly; what can be read is judged or searched, for a report."""
    tally, draw = Tally(), random.Random(7)
    for _ in range(ANSWERS):
        examine(subjects, draw, tally)

    assert tally.failures == []
    assert tally.answers == ANSWERS
    assert min(tally.read, tally.finished, tally.judged, sum(tally.refusals.values())) > 10
    assert tally.located > 0
    assert tally.trained > 0
    assert sum(subject.outcome is not None for subject in subjects) == 4  # two labs


def test_an_answer_may_be_cut_anywhere(subjects: list[Subject]) -> None:
    """Split in two at each place, it says the same; cut off at each place, it gives what came before, and no end."""
    subject = min(subjects, key=lambda one: len(joined(list(one.answers[0]))))
    stream, plan = joined(list(subject.answers[0])), subject.sheet.plan
    whole = FrameReader(plan)
    whole.feed(stream)
    assert whole.events
    for place in range(len(stream)):
        reader = FrameReader(plan)
        reader.feed(stream[:place])
        assert not reader.finished
        assert told(reader)[1:] == (False, told(whole)[2][: len(reader.events)])
        reader.feed(stream[place:])
        assert told(reader) == told(whole)


@settings(max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(
    bodies=st.lists(
        st.tuples(st.sampled_from(sorted(Frame)), st.integers(0, 2), st.binary(max_size=16), _OBJECTS),
        min_size=1,
        max_size=6,
    )
)
def test_no_json_raises_anything_but_a_bad_answer(
    bodies: list[tuple[Frame, int, bytes, dict[str, object]]],
) -> None:
    """Objects of every form under the names that the format knows, in frames of every kind."""
    reader = FrameReader(attention_plan())
    with suppress(BadAnswer):
        for kind, index, values, data in bodies:
            reader.feed(joined([Piece(kind, index, json.dumps(data).encode(), values)]))

    assert len(reader.events) <= len(bodies)
