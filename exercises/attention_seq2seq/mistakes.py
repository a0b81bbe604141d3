"""What students get wrong in a translator with attention."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.exercise.families import dropouts, gradients, heads, masks, scores, weights
from grader.exercise.mistakes import borrow, mistake

Projections = tuple[Tensor, Tensor, Tensor]
Attended = tuple[Tensor, Tensor]

no_scaling = scores.no_scaling
scaled_by_half_the_width = scores.scaled_by_half_the_width
scaled_by_twice_the_width = scores.scaled_by_twice_the_width
scaled_by_the_rounded_root = scores.scaled_by_the_rounded_root
halved = scores.halved
scaled_by_the_width_of_all_heads = scores.scaled_by_the_width_of_all_heads
softmax_over_queries = weights.softmax_over_queries
mask_ignored = masks.mask_ignored
mask_inverted = masks.mask_inverted
hidden_scores_are_minus_ten_thousand = masks.hidden_scores_are_minus_ten_thousand
a_number_added_where_hidden = masks.a_number_added_where_hidden
first_mask_for_all = masks.first_mask_for_all
splits_without_transpose = heads.splits_without_transpose
merges_without_transpose = heads.merges_without_transpose
no_attention_output_projection = borrow(heads.no_output_projection, replaces="MultiHeadAttention.leave")
weights_cut_off = gradients.weights_cut_off
drops_in_eval = dropouts.drops_in_eval


@mistake(replaces="amplify", dimension="numerics")
def embeddings_not_scaled(embedded: Tensor) -> Tensor:
    """You do not multiply the embeddings by √d_model.

    The positions are added to embeddings that are too small beside them. Look at what happens between the embedding
    and the sum, on both sides.
    """
    return embedded


@mistake(replaces="AttentionSeq2Seq.embed_target", dimension="numerics")
def target_not_scaled(self: Any, tgt: Tensor) -> Tensor:
    """You scale the source's embeddings, and not the target's.

    Both sides are treated alike. Compare the two lines.
    """
    embedded = self.tgt_embedding(tgt)
    return _with_waves(embedded, embedded)


@mistake(replaces="add_positions", dimension="numerics")
def no_positions(embedded: Tensor) -> Tensor:
    """You add no positions.

    An LSTM knows the order by itself, but the contract encodes positions as well. If you made the table, it may never
    be added.
    """
    return embedded


@mistake(replaces="AttentionSeq2Seq.embed_target", dimension="numerics")
def target_without_positions(self: Any, tgt: Tensor) -> Tensor:
    """You add positions to the source, and not to the target.

    Both sides are treated alike. Compare the two lines.
    """
    embedded: Tensor = self.tgt_embedding(tgt)
    return embedded * math.sqrt(embedded.shape[-1])


@mistake(replaces="add_positions", dimension="numerics")
def positions_along_the_batch(embedded: Tensor) -> Tensor:
    """You add the positions along the batch.

    All words of a sentence get the same encoding, and each sentence another one. Which axis of the embeddings counts
    the words? A table that was written for time first has to be turned.
    """
    return _with_waves(embedded.transpose(0, 1), embedded.transpose(0, 1)).transpose(0, 1)


@mistake(replaces="waves", dimension="numerics")
def sines_then_cosines(turned: Tensor) -> Tensor:
    """You put all sines first and all cosines after them.

    A sine and its cosine belong next to each other: sines in the even features, cosines in the odd ones.
    """
    return torch.cat((turned.sin(), turned.cos()), dim=-1)


@mistake(replaces="angles", dimension="numerics")
def positions_from_one(time: int, d_model: int) -> Tensor:
    """You count positions from 1.

    The first word has position 0.
    """
    positions = torch.arange(1, time + 1, dtype=torch.get_default_dtype())[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.get_default_dtype())
    return positions * 10000.0 ** (-even / d_model)


@mistake(replaces="angles", dimension="numerics")
def exponent_doubled(time: int, d_model: int) -> Tensor:
    """Your waves grow long twice too fast.

    Pair i has the exponent 2i / d_model. You step through 0, 2, 4, … already, so the factor 2 is in there: do not put
    it in again.
    """
    positions = torch.arange(time, dtype=torch.get_default_dtype())[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.get_default_dtype())
    return positions * 10000.0 ** (-2.0 * even / d_model)


@mistake(replaces="AttentionSeq2Seq.read_source", dimension="numerics")
def encoder_reads_across_sentences(self: Any, embedded: Tensor) -> Tensor:
    """Your encoder's LSTM takes sentences for words.

    It expects time first unless it is told otherwise, so it runs along the batch: a word is read after the word at the
    same place in the sentence before.
    """
    states: Tensor = self.encoder_lstm(embedded.transpose(0, 1))[0].transpose(0, 1)
    return states


@mistake(replaces="AttentionSeq2Seq.read_target", dimension="masking")
def decoder_reads_across_sentences(self: Any, embedded: Tensor, memory: Tensor) -> Tensor:
    """Your decoder's LSTM takes sentences for words.

    It expects time first unless it is told otherwise, so it runs along the batch: a word is read after the word at the
    same place in the sentence before.
    """
    states: Tensor = self.decoder_lstm(embedded.transpose(0, 1))[0].transpose(0, 1)
    return states


@mistake(replaces="AttentionSeq2Seq.read_target", dimension="numerics")
def decoder_starts_from_the_encoder(self: Any, embedded: Tensor, memory: Tensor) -> Tensor:
    """Your decoder's LSTM starts from what the encoder remembers.

    Many translators do that. In this one all that the decoder knows of the source comes through attention, and its
    LSTM starts from zeros.
    """
    last = memory[:, -1].expand(self.decoder_lstm.num_layers, -1, -1).contiguous()
    states: Tensor = self.decoder_lstm(embedded, (last, torch.zeros_like(last)))[0]
    return states


@mistake(replaces="AttentionSeq2Seq.encode", dimension="numerics")
def encoder_attention_skipped(self: Any, src: Tensor, src_mask: Tensor | None) -> Tensor:
    """Your encoder does not attend to itself.

    The decoder looks at the LSTM's outputs directly: `encoder_attention` and `encoder_norm` have no effect.
    """
    return self.read_source(self.embed_source(src))  # type: ignore[no-any-return]  # a module's own method


@mistake(replaces="AttentionSeq2Seq.encode", dimension="numerics")
def residual_of_the_embeddings(self: Any, src: Tensor, src_mask: Tensor | None) -> Tensor:
    """Your encoder's residual goes round the LSTM as well.

    You add the embeddings to what attention gathered. A residual adds what went into *this* attention, and that is what
    the LSTM gave.
    """
    embedded = self.embed_source(src)
    attended, _ = self.look_around(self.read_source(embedded), src_mask)
    return self.finish_encoder(embedded, attended)  # type: ignore[no-any-return]  # a module's own method


@mistake(replaces="AttentionSeq2Seq.look_around", dimension="masking")
def encoder_attention_unmasked(self: Any, states: Tensor, src_mask: Tensor | None) -> Attended:
    """Your encoder attends to padding.

    The mask reaches the cross-attention, but not the self-attention of the encoder: what padding holds gets into every
    word's memory.
    """
    return self.encoder_attention(states, states, None)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="masking")
def cross_attention_unmasked(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """Your decoder looks at padding.

    The mask reaches the encoder's self-attention, but not the cross-attention. It describes the sequence that answers,
    and that is the source in both.
    """
    return self.cross_attention(states, memory, None)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="numerics")
def cross_attention_in_step(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """Your cross-attention hides the later words of the source.

    A causal mask keeps a sequence from seeing its own future. The source is known as a whole: every word of the target
    may look at all of it.
    """
    seen = torch.ones(states.shape[1], memory.shape[1], dtype=torch.bool).tril()
    mask = seen if src_mask is None else seen & (src_mask != 0)
    return self.cross_attention(states, memory, mask)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.look_around", dimension="numerics")
def encoder_hides_the_future(self: Any, states: Tensor, src_mask: Tensor | None) -> Attended:
    """Your encoder hides later words from earlier ones.

    The source is known as a whole: in the encoder every word may look at every other one, ahead as well as back.
    """
    seen = torch.ones(states.shape[1], states.shape[1], dtype=torch.bool).tril()
    mask = seen if src_mask is None else seen & (src_mask != 0)
    return self.encoder_attention(states, states, mask)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.finish_encoder", dimension="numerics")
def encoder_without_residual(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your encoder's attention has no residual.

    What the LSTM read is lost unless attention happens to bring it back. What goes into the norm is a sum of two
    things.
    """
    return self.encoder_norm(attended)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.finish_decoder", dimension="numerics")
def decoder_without_residual(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your cross-attention has no residual.

    The decoder's own state is lost: what it wrote so far shows only in where it looks. What goes into the norm is a sum
    of two things.
    """
    return self.cross_norm(attended)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="add_residual", dimension="numerics")
def no_residuals(states: Tensor, attended: Tensor) -> Tensor:
    """Neither of your attentions has a residual.

    What goes into each norm is a sum of two things: what attention gathered, and what was there before.
    """
    return attended


@mistake(replaces="AttentionSeq2Seq.finish_encoder", dimension="numerics")
def encoder_norm_missing(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your encoder's norm has no effect.

    The sum of states and attention goes on as it is. If you made the norm, it may never be called.
    """
    return states + attended


@mistake(replaces="AttentionSeq2Seq.finish_decoder", dimension="numerics")
def cross_norm_missing(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your decoder's norm has no effect.

    The sum of states and attention goes on as it is. If you made the norm, it may never be called.
    """
    return states + attended


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="numerics")
def one_attention_for_both(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """Your decoder uses the encoder's attention.

    The two are of one kind, so nothing complains; `cross_attention` is never used.
    """
    return self.encoder_attention(states, memory, src_mask)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def keys_and_values_swapped(self: Any, asking: Tensor, answering: Tensor) -> Projections:
    """W_key and W_value have changed places.

    You compare the queries with what W_value gives, and mix what W_key gives. Follow each of the two to the place
    where it is used; if you unpack or chunk several at once, check the order.
    """
    return self.W_query(asking), self.W_value(answering), self.W_key(answering)


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="shapes")
def source_asks(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """In your cross-attention the source asks and the target answers.

    There is a row for each word of the source then. The decoder wants to know where to look, so it asks; keys and
    values are the encoder's.
    """
    return self.cross_attention(memory, states, None)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="shapes")
def target_attends_to_itself(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """Your decoder attends to itself, not to the source.

    No word of the source reaches the output. Keys and values are what the encoder remembers.
    """
    return self.cross_attention(states, states, None)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.predict", dimension="numerics")
def probabilities_for_logits(self: Any, states: Tensor) -> Tensor:
    """You return probabilities, not logits.

    The loss that is used for training, cross-entropy, takes the softmax itself. Return what the output projection
    gives.
    """
    return torch.softmax(self.output_projection(states), dim=-1)


@mistake(replaces="AttentionSeq2Seq.predict", dimension="shapes")
def last_word_alone(self: Any, states: Tensor) -> Tensor:
    """You return logits for the last position only.

    Training compares every position with the word that comes next, so every position of the target has its logits.
    """
    return self.output_projection(states[:, -1])  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.forward", dimension="shapes")
def attention_averaged_over_heads(self: Any, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None) -> Attended:
    """You return the weights averaged over the heads.

    Each head looks somewhere else, and the weights that you return have an axis for that.
    """
    states, weights = self.decode(tgt, self.encode(src, src_mask), src_mask)
    return self.predict(states), weights.mean(dim=1)


@mistake(replaces="AttentionSeq2Seq.forward", dimension="shapes")
def encoder_weights_returned(self: Any, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None) -> Attended:
    """You return the weights of the encoder's self-attention.

    They say where the words of the source look in the source. Wanted is where the decoder looks: the weights of the
    cross-attention.
    """
    source = self.read_source(self.embed_source(src))
    attended, weights = self.look_around(source, src_mask)
    states, _ = self.decode(tgt, self.finish_encoder(source, attended), src_mask)
    return self.predict(states), weights


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="gradients")
def memory_cut_off(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """No gradient flows back into your encoder.

    The logits are right, but nothing of the encoder ever learns. Look for `detach()`, `.data` or `no_grad` round what
    the encoder remembers.
    """
    return self.cross_attention(states, memory.detach(), src_mask)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="waves", dimension="numerics")
def sine_and_cosine_swapped(turned: Tensor) -> Tensor:
    """You put cosines into the even features and sines into the odd ones.

    It is the other way round: the feature with index 0 holds a sine.
    """
    return torch.stack((turned.cos(), turned.sin()), dim=-1).flatten(-2)


@mistake(replaces="angles", dimension="numerics")
def base_1000(time: int, d_model: int) -> Tensor:
    """Your wavelengths grow to a base of 1,000, not of 10,000.

    Count the zeros.
    """
    positions = torch.arange(time, dtype=torch.get_default_dtype())[:, None]
    return positions * 1000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.get_default_dtype()) / d_model)


@mistake(replaces="add_positions", dimension="numerics")
def positions_scaled_as_well(embedded: Tensor) -> Tensor:
    """You multiply by √d_model after adding the positions.

    The factor belongs to the embeddings alone. It makes them large beside the positions; applied to the sum, it
    changes nothing between the two.
    """
    root = math.sqrt(embedded.shape[2])
    return root * _with_waves(embedded / root, embedded)


@mistake(replaces="AttentionSeq2Seq.finish_decoder", dimension="numerics")
def one_norm_for_both(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your decoder uses the encoder's norm.

    The two are of one kind, so nothing complains; `cross_norm` is never used.
    """
    return self.encoder_norm(states + attended)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.finish_decoder", dimension="numerics")
def cross_norm_before_the_sum(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your decoder normalises what attention gives, and adds the states afterwards.

    Here the norm comes after the sum: add first.
    """
    return states + self.cross_norm(attended)  # type: ignore[no-any-return]  # a module's own part


def _with_waves(scaled: Tensor, like: Tensor) -> Tensor:
    """Return embeddings (B, T, d_model) with the sines and cosines of their positions added."""
    time, width = like.shape[1:]
    positions = torch.arange(time, dtype=torch.get_default_dtype())[:, None]
    even = torch.arange(0, width, 2, dtype=torch.get_default_dtype())
    turned = positions * 10000.0 ** (-even / width)
    return scaled + torch.stack((turned.sin(), turned.cos()), dim=-1).flatten(-2)
