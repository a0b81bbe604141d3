"""A module that decodes: it is fed a sequence in chunks, and each time the cache that it gave back before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grader.box.drivers import PlainModule
from grader.box.plan import Call, Entry
from grader.errors import ArgumentMismatch

CHUNKS = "chunks"  # the argument that is not handed over: how many steps each chunk has; 0: another text begins


class Decode(PlainModule):
    """Feeds the chunks of the first argument, (B, T, d), one after the other; the parts of the output are joined.

    The first call leaves the cache out. Later ones hand over what the call before returned second, unopened. In the
    place of a chunk of no steps another text is begun and left alone: the caches of two texts must not mix.
    """

    def run(self, subject: Any, handed: Mapping[str, Any], call: Call, contract: Entry) -> Any:
        """Call once per chunk."""
        given = {name: value for name, value in handed.items() if name != CHUNKS}
        sequence, cache_name = contract.arguments[0], contract.arguments[1]
        chunks, outputs = handed.get(CHUNKS), []
        cache: Any = None
        sizes = chunks.tolist() if isinstance(chunks, Tensor) else [given[sequence].shape[1]]
        whole = given.pop(sequence)
        for number, part in enumerate(whole.split(sizes, dim=1)):
            if not sizes[number]:
                super().run(subject, {**given, sequence: whole.flip(1)[:, : sizes[0]]}, call, contract)
                continue
            step = {**given, sequence: part, **({cache_name: cache} if number else {})}
            output, cache = _two(super().run(subject, step, call, contract), contract)
            outputs.append(output)
        if not all(isinstance(output, Tensor) for output in outputs):
            return outputs[0]
        return torch.cat(outputs, dim=1)


def _two(result: Any, contract: Entry) -> tuple[Any, Any]:
    if not isinstance(result, tuple | list) or len(result) != 2:
        wanted = f"(output, {contract.arguments[1]})"
        raise ArgumentMismatch(f"`forward` must return two things, {wanted}; yours returns {_kind(result)}")
    return result[0], result[1]


def _kind(result: Any) -> str:
    count = f" of {len(result)}" if isinstance(result, tuple | list) else ""
    return f"a {type(result).__name__}{count}"
