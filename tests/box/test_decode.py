"""Decoding: chunks go in, the cache comes back unopened, and the outputs are joined."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from grader.box.inline import observe_all
from grader.box.loading import load
from grader.box.observations import Blame, CallSeen, Presence
from grader.box.plan import Build, Call, Entry, Kind, Plan, TensorSpec

_X = torch.arange(12, dtype=torch.float64).view(1, 4, 3)

_COUNTS = """
import torch
from torch import nn

class Shut:
    def __init__(self, count): self.count = count
    def __len__(self): raise TypeError("do not count me")
    def __bool__(self): raise TypeError("am I None?")

class Count(nn.Module):
    def forward(self, x, {cache}=None):
        before = 0 if {cache} is None else {cache}.count
        return x + 100 * before, {returned}
"""


def _run(source: str, chunks: Sequence[int] | None) -> CallSeen:
    entry = Entry("Count", Kind.MODULE, ("x", "cache"), driver="kv_cache.Decode")
    arguments = {"x": _X, "chunks": None if chunks is None else torch.tensor(chunks)}
    call = Call("one/base", "Count", arguments, (TensorSpec("output:output", ("batch", "time", "dim"), (1, 4, 3)),))
    plan = Plan(entry, (Build("Count", {}),), (call,))
    return observe_all(plan, lambda: load(source, ("Count",), lambda _: None)).calls["one/base"]


def _source(cache: str = "cache", returned: str = "Shut(before + x.shape[1])") -> str:
    return _COUNTS.format(cache=cache, returned=returned)


def _times(seen: CallSeen) -> list[float]:
    tensor = seen.slots["output:output"].tensor
    assert tensor is not None
    return [float(value) for value in ((tensor - _X) / 100)[0, :, 0]]


def test_each_chunk_is_given_the_cache_of_the_one_before() -> None:
    """What came back is what goes in; the outputs stand in the order of the text."""
    assert _times(_run(_source(), [1, 2, 1])) == [0, 1, 1, 3]


def test_a_text_goes_on_after_another_one_has_begun() -> None:
    """What a module keeps in the place of a cache is the other text's by then."""
    kept = (
        _source()
        .replace("cache.count", "self.count")
        .replace("return x", "self.count = before + x.shape[1]\n        return x")
    )

    assert _times(_run(_source(), [2, 0, 1, 1])) == [0, 0, 2, 3]
    assert _times(_run(kept, [1, 2, 1])) == [0, 1, 1, 3]
    assert _times(_run(kept, [1, 2, 0, 1])) == [0, 1, 1, 1]


def test_without_chunks_there_is_one_pass() -> None:
    """And the cache is left out of it."""
    assert _times(_run(_source(), None)) == [0, 0, 0, 0]


def test_the_cache_may_have_a_customary_name() -> None:
    """The table of names has it."""
    assert _times(_run(_source("past_key_values"), [2, 2])) == [0, 0, 2, 2]


def test_whoever_returns_no_cache_is_told_so() -> None:
    """Two things are asked for."""
    seen = _run(_source().replace("return x + 100 * before, Shut(before + x.shape[1])", "return x"), [2, 2])

    assert seen.raised is not None
    assert seen.raised.blame is Blame.ARGUMENT
    assert seen.raised.message == "`forward` must return two things, (output, cache); yours returns a Tensor"


def test_an_output_of_the_wrong_length_is_seen_as_it_is() -> None:
    """Only the last token of each chunk: two of four."""
    seen = _run(_source().replace("return x + 100 * before", "return x[:, -1:] + 100 * before"), [2, 2])

    assert seen.slots["output:output"].presence is Presence.MISSHAPEN
    assert seen.slots["output:output"].shape == (1, 2, 3)
