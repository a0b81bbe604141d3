"""A small model that learns to copy; all attention in it is the submission's."""

from __future__ import annotations

from typing import Any

from torch import Tensor, argmax, cat, full_like, nn, no_grad, ones
from torch import bool as boolean
from torch.nn.functional import cross_entropy

from grader.box.plan import Entry
from grader.box.train import BEGIN, PAD, Attend, Train, attending


class Heads(nn.Module):
    """Projects, splits into heads, attends as the submission does, joins the heads and projects once more."""

    def __init__(self, attend: Attend, width: int, num_heads: int) -> None:
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
        past = ones(before.shape[1], before.shape[1], dtype=boolean, device=before.device).tril()
        state = self._embed(before)
        state = self.decoder_norm(state + self.decoder(state, state, past)[0])
        gathered, weights = self.cross(state, encoded, visible)
        return self.output(self.cross_norm(state + gathered)), weights

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the mean cross-entropy of the target's tokens, each told all those before it."""
        begin = full_like(target[:, :1], BEGIN)
        logits, _ = self(source, cat([begin, target[:, :-1]], dim=1))
        return cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)

    @no_grad()
    def answer(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return the likeliest token after token, (B, T), and the cross-attention of the first sequence, (h, T, T)."""
        said = full_like(source[:, :1], BEGIN)
        for _ in range(source.shape[1]):
            logits, weights = self(source, said)
            said = cat([said, argmax(logits[:, -1:], dim=-1)], dim=1)
        return said[:, 1:], weights[0]

    def _embed(self, tokens: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(tokens) + self.position.weight[: tokens.shape[1]]
        return embedded


class Copying(Train):
    """Trains the copier around the submission."""

    model = Copier
