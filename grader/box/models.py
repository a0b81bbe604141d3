"""Small models of ours in which what a submission wrote is put to work: trained, or looked into.

They are made of plain torch and hold no attention of their own. Each is built around what the submission defines, and
begins with the weights that the plan brings along. Tokens: 0 pads, 1 begins a sequence, the words follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from grader.box.arguments import call_with
from grader.box.plan import Entry
from grader.errors import ArgumentMismatch

PAD, BEGIN = 0, 1
FIRST_WORD = 2


class Model(Protocol):
    """What can be trained and asked; it is a module."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return what is trained."""
        ...

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Return what one batch, (B, T) each, costs."""
        ...

    def answer(self, source: Tensor) -> tuple[Tensor, ...]:
        """Return what the model makes of sequences it has not seen."""
        ...


Attend = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]


def attending(found: Callable[..., Any], contract: Entry) -> Attend:
    """Return the submission's attention, (query, key, value, mask) to (output, weights), with its output looked at.

    Raises, when called:
        ArgumentMismatch: it does not return two things, or the first one does not fit the queries and values.
    """

    def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        given = dict(zip(contract.arguments, (query, key, value, mask), strict=True))
        result = call_with(
            found, given, order=contract.arguments, defaults=contract.defaults, described=f"`{contract.name}`"
        )
        output, weights = two(result, contract, ("output", "weights"))
        fitting(output, (*query.shape[:-1], value.shape[-1]), contract, "output")
        return output, weights

    return attend


def two(result: Any, contract: Entry, names: tuple[str, str]) -> tuple[Any, Any]:
    """Return the two things that an attention must return.

    Raises:
        ArgumentMismatch: they are not two.
    """
    if not isinstance(result, tuple | list) or len(result) != 2:
        wanted = ", ".join(names)
        raise ArgumentMismatch(f"`{contract.name}` must return ({wanted}); yours returns a {type(result).__name__}")
    return result[0], result[1]


def fitting(value: Any, shape: tuple[int, ...], contract: Entry, name: str) -> None:
    """Refuse what the model cannot go on with.

    Raises:
        ArgumentMismatch: `value` is no tensor of `shape`.
    """
    if not isinstance(value, Tensor) or tuple(value.shape) != shape:
        seen = tuple(value.shape) if isinstance(value, Tensor) else f"no tensor but a {type(value).__name__}"
        raise ArgumentMismatch(
            f"inside the model, the {name} of `{contract.name}` must have shape {shape}; yours is {seen}"
        )


class Heads(nn.Module):
    """Projects, splits into heads, attends as the submission does, joins the heads and projects once more."""

    def __init__(self, attend: Attend, width: int, num_heads: int) -> None:
        """Hold the projections of `num_heads` heads."""
        super().__init__()
        self.attend, self.num_heads = attend, num_heads
        self.W_query, self.W_key, self.W_value, self.W_out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Let every position of `x`, (B, T_q, width), attend to `memory`, (B, T_k, width); weights (B, h, T_q, T_k)."""
        query, key, value = self._split(self.W_query(x)), self._split(self.W_key(memory)), self.W_value(memory)
        output, weights = self.attend(query, key, self._split(value), mask)
        return self.W_out(output.transpose(1, 2).flatten(-2)), weights

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.num_heads, -1).transpose(1, 2)


class Copier(nn.Module):
    """An encoder and a decoder of one layer each, in which all attention is the submission's.

    The encoder's self-attention and the cross-attention hide padding, the decoder's self-attention hides the future.
    """

    def __init__(self, found: Any, contract: Entry, *, vocab_size: int, width: int, num_heads: int, time: int) -> None:
        """Build it for sequences of up to `time` tokens."""
        super().__init__()
        attend = attending(found, contract)
        self.embedding, self.position = nn.Embedding(vocab_size, width), nn.Embedding(time, width)
        self.encoder, self.decoder, self.cross = (Heads(attend, width, num_heads) for _ in range(3))
        self.encoder_norm, self.decoder_norm, self.cross_norm = (nn.LayerNorm(width) for _ in range(3))
        self.output = nn.Linear(width, vocab_size)

    def forward(self, source: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """Return what comes after each token of `before`, (B, T, vocab_size), and the cross-attention's weights."""
        visible = (source != PAD)[:, None, None, :]
        encoded = self._embed(source)
        encoded = self.encoder_norm(encoded + self.encoder(encoded, encoded, visible)[0])
        past = torch.ones(before.shape[1], before.shape[1], dtype=torch.bool, device=before.device).tril()
        state = self._embed(before)
        state = self.decoder_norm(state + self.decoder(state, state, past)[0])
        gathered, weights = self.cross(state, encoded, visible)
        return self.output(self.cross_norm(state + gathered)), weights

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the mean cross-entropy of the target's tokens, each told all those before it."""
        begin = torch.full_like(target[:, :1], BEGIN)
        logits, _ = self(source, torch.cat([begin, target[:, :-1]], dim=1))
        return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)

    @torch.no_grad()
    def answer(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return the likeliest token after token, (B, T), and the cross-attention of the first sequence, (h, T, T)."""
        said = torch.full_like(source[:, :1], BEGIN)
        for _ in range(source.shape[1]):
            logits, weights = self(source, said)
            said = torch.cat([said, logits[:, -1:].argmax(dim=-1)], dim=1)
        return said[:, 1:], weights[0]

    def _embed(self, tokens: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(tokens) + self.position.weight[: tokens.shape[1]]
        return embedded


class ReaderAttention(nn.Module):
    """Self-attention of a `Reader`; it shows its weights beside its output."""

    def __init__(self, width: int, num_heads: int) -> None:
        """Hold the projections of `num_heads` heads."""
        super().__init__()
        self.num_heads = num_heads
        self.W_query, self.W_key, self.W_value, self.W_out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output (B, T, width) and the weights (B, h, T, T) of `x`, (B, T, width)."""
        query, key, value = (self.split(project(x)) for project in (self.W_query, self.W_key, self.W_value))
        weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
        return self.W_out((weights @ value).transpose(1, 2).flatten(-2)), weights

    def split(self, x: Tensor) -> Tensor:
        """Return (B, T, width) as heads, (B, h, T, width / h)."""
        return x.view(*x.shape[:-1], self.num_heads, -1).transpose(1, 2)


class ReaderLayer(nn.Module):
    """One layer of a `Reader`: its `attention`, then two linear layers, each with a residual connection and a norm."""

    def __init__(self, width: int, num_heads: int) -> None:
        """Hold the parts."""
        super().__init__()
        self.attention = ReaderAttention(width, num_heads)
        self.attention_norm, self.norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inner, self.outer = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, width)."""
        x = self.attention_norm(x + self.attention(x)[0])
        out: Tensor = self.norm(x + self.outer(torch.relu(self.inner(x))))
        return out


class Reader(nn.Module):
    """A small encoder that is there to be looked into: `layers[i].attention` returns (output, weights)."""

    def __init__(self, *, vocab_size: int, width: int, num_heads: int, num_layers: int, time: int) -> None:
        """Build it for sequences of up to `time` tokens."""
        super().__init__()
        self.embedding, self.position = nn.Embedding(vocab_size, width), nn.Embedding(time, width)
        self.layers = nn.ModuleList(ReaderLayer(width, num_heads) for _ in range(num_layers))
        self.output = nn.Linear(width, vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return a logit for every word at every position of `tokens`, (B, T): (B, T, vocab_size)."""
        x = self.embedding(tokens) + self.position.weight[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.output(x)
        return logits
