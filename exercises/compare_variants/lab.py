"""A small translator, in which every kind of attention does the same job."""

from __future__ import annotations

from typing import Any

from torch import Tensor, argmax, cat, full_like, nn, no_grad, tanh
from torch.nn.functional import cross_entropy

from grader.box.binding.arguments import call_with
from grader.box.plan import Entry
from grader.box.train import BEGIN, PAD, Train, attending, fitting, two


class Products(nn.Module):
    """Attention by a function of queries, keys and values: the states become queries through one projection."""

    def __init__(self, found: Any, contract: Entry, *, encoder_dim: int, decoder_dim: int) -> None:
        super().__init__()
        self.attend = attending(found, contract)
        self.W_query = nn.Linear(decoder_dim, encoder_dim, bias=False)

    def forward(self, encoded: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return contexts (B, T, encoder_dim) and weights (B, T, S)."""
        return self.attend(self.W_query(states), encoded, encoded, None)


class StateByState(nn.Module):
    """Attention by a module that is given one state of the decoder at a time: all of a batch's states at once."""

    def __init__(self, found: Any, contract: Entry, **sizes: int) -> None:
        super().__init__()
        self._contract = contract
        given = {name: sizes[name] for name in contract.constructor if name in sizes}
        named = f"`{contract.name}`"
        self.attention = call_with(
            found, given, order=contract.constructor, defaults=contract.defaults, described=named
        )

    def forward(self, encoded: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return contexts (B, T, encoder_dim) and weights (B, T, S)."""
        batch, time, source = *states.shape[:2], encoded.shape[1]
        contract, repeated = self._contract, encoded.repeat_interleave(time, dim=0)
        result = call_with(
            self.attention,
            dict(zip(contract.arguments, (repeated, states.flatten(0, 1)), strict=True)),
            order=contract.arguments,
            defaults={},
            described="`forward`",
        )
        context, weights = two(result, contract, ("context", "weights"))
        fitting(context, (batch * time, encoded.shape[-1]), contract, "context")
        fitting(weights, (batch * time, source), contract, "weights")
        return context.view(batch, time, -1), weights.view(batch, time, source)


class Translator(nn.Module):
    """Word by word into another language; between the two languages there is nothing but the submission's attention.

    An encoder output is a word and its place, a decoder state the word before, its place and the sentence's mean. All
    sentences of a batch are equally long, so nothing has to be masked.
    """

    def __init__(
        self,
        found: Any,
        contract: Entry,
        *,
        vocab_size: int,
        encoder_dim: int,
        decoder_dim: int,
        time: int,
        **sizes: int,
    ) -> None:
        """Build it for sentences of up to `time` words; `sizes` are what else the attention's constructor takes."""
        super().__init__()
        self.source, self.source_place = nn.Embedding(vocab_size, encoder_dim), nn.Embedding(time, encoder_dim)
        self.target, self.target_place = nn.Embedding(vocab_size, decoder_dim), nn.Embedding(time, decoder_dim)
        self.state = nn.Linear(decoder_dim + encoder_dim, decoder_dim)
        kind = StateByState if isinstance(found, type) else Products
        self.attention = kind(found, contract, encoder_dim=encoder_dim, decoder_dim=decoder_dim, **sizes)
        self.joined, self.output = nn.Linear(encoder_dim + decoder_dim, decoder_dim), nn.Linear(decoder_dim, vocab_size)

    def forward(self, source: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """Return what comes after each word of `before`, (B, T, vocab_size), and the weights (B, T, S)."""
        encoded = self.source(source) + self.source_place.weight[: source.shape[1]]
        asked = self.target(before) + self.target_place.weight[: before.shape[1]]
        mean = encoded.mean(dim=1, keepdim=True).expand(-1, before.shape[1], -1)
        states = tanh(self.state(cat([asked, mean], dim=-1)))
        context, weights = self.attention(encoded, states)
        return self.output(tanh(self.joined(cat([context, states], dim=-1)))), weights

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the mean cross-entropy of the target's words, each told all those before it."""
        length = int((source[0] != PAD).sum())
        source, target = source[:, :length], target[:, :length]
        begin = full_like(target[:, :1], BEGIN)
        logits, _ = self(source, cat([begin, target[:, :-1]], dim=1))
        return cross_entropy(logits.flatten(0, 1), target.flatten())

    @no_grad()
    def answer(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return the likeliest word after word, (B, T), padded as the source is, and the first sentence's weights."""
        said, lengths = full_like(source, PAD), (source != PAD).sum(dim=1)
        for length in sorted(set(lengths.tolist())):
            rows = lengths == length
            said[rows, :length] = self._translate(source[rows, :length])[0]
        return said, self._translate(source[:1, : int(lengths[0])])[1][0]

    def _translate(self, source: Tensor) -> tuple[Tensor, Tensor]:
        said = full_like(source[:, :1], BEGIN)
        for _ in range(source.shape[1]):
            logits, weights = self(source, said)
            said = cat([said, argmax(logits[:, -1:], dim=-1)], dim=1)
        return said[:, 1:], weights


class Translating(Train):
    """Trains the translator around the submission."""

    model = Translator
