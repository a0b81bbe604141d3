"""A translator: recurrent encoder with self-attention, recurrent decoder with cross-attention to it.

Notation: B batch, T_src and T_tgt lengths, h heads, d_model the width of all layers, d_head = d_model / h.
Sources: Bahdanau et al., Neural Machine Translation by Jointly Learning to Align and Translate (2015), section 3, for
the recurrent encoder and decoder with attention between them; Vaswani et al., Attention Is All You Need (2017),
sections 3.1, 3.2.2, 3.4 and 3.5, for heads, residuals, the scaling of embeddings and the encoding of positions.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def split(x: Tensor, num_heads: int) -> Tensor:
    """Turn (B, T, d_model) into (B, h, T, d_head): consecutive features form a head."""
    batch, time, width = x.shape
    return x.view(batch, time, num_heads, width // num_heads).transpose(1, 2)


def merge(heads: Tensor) -> Tensor:
    """Turn (B, h, T, d_head) back into (B, T, d_model): the heads side by side."""
    return heads.transpose(1, 2).flatten(2)


def scores_of(queries: Tensor, keys: Tensor) -> Tensor:
    """Return every query's dot product with every key, head by head, (B, h, T_q, T_k)."""
    return queries @ keys.transpose(-2, -1)


def scale(scores: Tensor, d_k: int) -> Tensor:
    """Divide the scores by √d_k, so that their variance does not grow with the width of a head."""
    return scores / math.sqrt(d_k)


def apply_mask(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Set the scores of masked keys to -inf."""
    return scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))


def normalise(scores: Tensor) -> Tensor:
    """Turn each query's scores into weights that add up to one."""
    return torch.softmax(scores, dim=-1)


def drop(weights: Tensor, dropout: nn.Dropout) -> Tensor:
    """Drop weights in training mode, and scale up those that are kept."""
    return dropout(weights)


def mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return the weighted sums of the values, (B, h, T_q, d_head)."""
    return weights @ values


class MultiHeadAttention(nn.Module):
    """Attend from queries to keys and values, with several heads at once; all projections have biases."""

    def __init__(self, d_model: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.W_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, asking: Tensor, answering: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return the output (B, T_q, d_model) and the weights (B, h, T_q, T_k)."""
        queries, keys, values = (split(part, self.num_heads) for part in self.project(asking, answering))
        scores = scale(scores_of(queries, keys), keys.shape[-1])
        weights = normalise(apply_mask(scores, mask))
        return self.leave(merge(mix(drop(weights, self.dropout), values))), weights

    def project(self, asking: Tensor, answering: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (B, T_q, d_model), keys and values (B, T_k, d_model) of all heads."""
        return self.W_query(asking), self.W_key(answering), self.W_value(answering)

    def leave(self, context: Tensor) -> Tensor:
        """Apply the output projection, which combines the heads, (B, T_q, d_model)."""
        return self.W_out(context)


def amplify(embedded: Tensor) -> Tensor:
    """Multiply embeddings (B, T, d_model) by √d_model, so that the positions do not outweigh them."""
    return embedded * math.sqrt(embedded.shape[-1])


def angles(time: int, d_model: int) -> Tensor:
    """Return each position times the frequency of each pair of features, (T, d_model / 2)."""
    positions = torch.arange(time, dtype=torch.get_default_dtype())[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.get_default_dtype())
    return positions * 10000.0 ** (-even / d_model)


def waves(turned: Tensor) -> Tensor:
    """Return the sine of each angle as an even feature and its cosine as the next, odd one, (T, d_model)."""
    return torch.stack((turned.sin(), turned.cos()), dim=-1).flatten(-2)


def add_positions(embedded: Tensor) -> Tensor:
    """Add to each embedding (B, T, d_model) the encoding of its position."""
    return embedded + waves(angles(embedded.shape[1], embedded.shape[2])).to(embedded)


def add_residual(states: Tensor, attended: Tensor) -> Tensor:
    """Add the attention's output to its input, (B, T, d_model)."""
    return states + attended


class AttentionSeq2Seq(nn.Module):
    """Translate: an encoder reads the source, a decoder reads the target so far and attends to the source.

    Args:
        src_vocab_size, tgt_vocab_size: numbers of words of the two languages.
        d_model: width of all layers; even, and divisible by the number of heads.
        num_heads: heads of both attentions.
        num_layers: layers of both LSTMs.
        dropout: probability of dropping, in training.
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        between = dropout if num_layers > 1 else 0.0  # an LSTM of one layer has nothing to drop between
        self.src_embedding = nn.Embedding(src_vocab_size, d_model)
        self.tgt_embedding = nn.Embedding(tgt_vocab_size, d_model)
        self.encoder_lstm = nn.LSTM(
            d_model, d_model // 2, num_layers, batch_first=True, dropout=between, bidirectional=True
        )
        self.encoder_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_lstm = nn.LSTM(d_model, d_model, num_layers, batch_first=True, dropout=between)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_norm = nn.LayerNorm(d_model)
        self.output_projection = nn.Linear(d_model, tgt_vocab_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Map src (B, T_src) and tgt (B, T_tgt) to logits (B, T_tgt, tgt_vocab) and weights (B, h, T_tgt, T_src)."""
        memory = self.encode(src, src_mask)
        states, weights = self.decode(tgt, memory, src_mask)
        return self.predict(states), weights

    def encode(self, src: Tensor, src_mask: Tensor | None) -> Tensor:
        """Return the encoder's output at each source position, (B, T_src, d_model)."""
        states = self.read_source(self.embed_source(src))
        attended, _ = self.look_around(states, src_mask)
        return self.finish_encoder(states, attended)

    def decode(self, tgt: Tensor, memory: Tensor, src_mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return the decoder's states (B, T_tgt, d_model), and its attention weights on the source."""
        states = self.read_target(self.embed_target(tgt), memory)
        attended, weights = self.look_back(states, memory, src_mask)
        return self.finish_decoder(states, attended), weights

    def embed_source(self, src: Tensor) -> Tensor:
        """Return the source's embeddings with positions added, (B, T_src, d_model)."""
        return self.dropout(add_positions(amplify(self.src_embedding(src))))

    def embed_target(self, tgt: Tensor) -> Tensor:
        """Return the target's embeddings with positions added, (B, T_tgt, d_model)."""
        return self.dropout(add_positions(amplify(self.tgt_embedding(tgt))))

    def read_source(self, embedded: Tensor) -> Tensor:
        """Return the encoder LSTM's outputs, forward and backward side by side, (B, T_src, d_model)."""
        return self.encoder_lstm(embedded)[0]

    def read_target(self, embedded: Tensor, memory: Tensor) -> Tensor:
        """Return the decoder LSTM's outputs, from an initial state of zeros, (B, T_tgt, d_model)."""
        return self.decoder_lstm(embedded)[0]

    def look_around(self, states: Tensor, src_mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Attend from the source to itself, (B, T_src, d_model)."""
        return self.encoder_attention(states, states, src_mask)

    def look_back(self, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Attend from the target to the source: the output (B, T_tgt, d_model), the weights (B, h, T_tgt, T_src)."""
        return self.cross_attention(states, memory, src_mask)

    def finish_encoder(self, states: Tensor, attended: Tensor) -> Tensor:
        """Return the sum of the encoder's states and their attention's output, after layer normalisation."""
        return self.encoder_norm(add_residual(states, self.dropout(attended)))

    def finish_decoder(self, states: Tensor, attended: Tensor) -> Tensor:
        """Return the sum of the decoder's states and their attention's output, after layer normalisation."""
        return self.cross_norm(add_residual(states, self.dropout(attended)))

    def predict(self, states: Tensor) -> Tensor:
        """Return a score for each word of the target language, (B, T_tgt, tgt_vocab)."""
        return self.output_projection(states)
