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

    Compared with the positions, your embeddings are too small. Check what happens between the embedding and the sum,
    for source and target.
    """
    return embedded


@mistake(replaces="AttentionSeq2Seq.embed_target", dimension="numerics")
def target_not_scaled(self: Any, tgt: Tensor) -> Tensor:
    """You scale the source's embeddings but not the target's.

    Source and target are embedded in the same way. Compare the two lines.
    """
    embedded = self.tgt_embedding(tgt)
    return _with_waves(embedded, embedded)


@mistake(replaces="add_positions", dimension="numerics")
def no_positions(embedded: Tensor) -> Tensor:
    """You do not add the positional encoding.

    An LSTM knows the order of the words by itself, but the statement also adds positions. If you compute the encoding,
    check that you add it.
    """
    return embedded


@mistake(replaces="AttentionSeq2Seq.embed_target", dimension="numerics")
def target_without_positions(self: Any, tgt: Tensor) -> Tensor:
    """You add positions to the source but not to the target.

    Source and target are embedded in the same way. Compare the two lines.
    """
    embedded: Tensor = self.tgt_embedding(tgt)
    return embedded * math.sqrt(embedded.shape[-1])


@mistake(replaces="add_positions", dimension="numerics")
def positions_along_the_batch(embedded: Tensor) -> Tensor:
    """You add the positions along the batch axis.

    All words of a sentence then get the same encoding, and each sentence a different one. Which axis of the embeddings
    is the time axis? Transpose an encoding that was written for time first.
    """
    return _with_waves(embedded.transpose(0, 1), embedded.transpose(0, 1)).transpose(0, 1)


@mistake(replaces="waves", dimension="numerics")
def sines_then_cosines(turned: Tensor) -> Tensor:
    """You put all sines first and all cosines after them.

    Sines and cosines must alternate: sines in the even features, cosines in the odd ones.
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
    """Your wavelengths grow too fast: the exponent is doubled.

    Pair i has the exponent 2i / d_model. Your steps 0, 2, 4, … already contain the factor 2, so do not multiply by 2
    again.
    """
    positions = torch.arange(time, dtype=torch.get_default_dtype())[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.get_default_dtype())
    return positions * 10000.0 ** (-2.0 * even / d_model)


@mistake(replaces="AttentionSeq2Seq.read_source", dimension="numerics")
def encoder_reads_across_sentences(self: Any, embedded: Tensor) -> Tensor:
    """Your encoder's LSTM reads along the batch instead of along time.

    `nn.LSTM` expects time as the first axis by default. With the batch first, each word follows the word at the same
    position of the previous sentence.
    """
    states: Tensor = self.encoder_lstm(embedded.transpose(0, 1))[0].transpose(0, 1)
    return states


@mistake(replaces="AttentionSeq2Seq.read_target", dimension="masking")
def decoder_reads_across_sentences(self: Any, embedded: Tensor, memory: Tensor) -> Tensor:
    """Your decoder's LSTM reads along the batch instead of along time.

    `nn.LSTM` expects time as the first axis by default. With the batch first, each word follows the word at the same
    position of the previous sentence.
    """
    states: Tensor = self.decoder_lstm(embedded.transpose(0, 1))[0].transpose(0, 1)
    return states


@mistake(replaces="AttentionSeq2Seq.read_target", dimension="numerics")
def decoder_starts_from_the_encoder(self: Any, embedded: Tensor, memory: Tensor) -> Tensor:
    """Your decoder's LSTM starts from the encoder's last state.

    Many translators do that. In this one, the decoder gets all information about the source through attention, and its
    LSTM starts from zeros.
    """
    last = memory[:, -1].expand(self.decoder_lstm.num_layers, -1, -1).contiguous()
    states: Tensor = self.decoder_lstm(embedded, (last, torch.zeros_like(last)))[0]
    return states


@mistake(replaces="AttentionSeq2Seq.encode", dimension="numerics")
def encoder_attention_skipped(self: Any, src: Tensor, src_mask: Tensor | None) -> Tensor:
    """Your encoder has no self-attention.

    Your decoder attends to the LSTM's outputs directly; `encoder_attention` and `encoder_norm` have no effect.
    """
    return self.read_source(self.embed_source(src))  # type: ignore[no-any-return]  # a module's own method


@mistake(replaces="AttentionSeq2Seq.encode", dimension="numerics")
def residual_of_the_embeddings(self: Any, src: Tensor, src_mask: Tensor | None) -> Tensor:
    """Your encoder's residual connection also skips the LSTM.

    You add the embeddings to the output of the attention. Add the input of the attention instead, which is the output
    of the LSTM.
    """
    embedded = self.embed_source(src)
    attended, _ = self.look_around(self.read_source(embedded), src_mask)
    return self.finish_encoder(embedded, attended)  # type: ignore[no-any-return]  # a module's own method


@mistake(replaces="AttentionSeq2Seq.look_around", dimension="masking")
def encoder_attention_unmasked(self: Any, states: Tensor, src_mask: Tensor | None) -> Attended:
    """Your encoder attends to padding.

    You pass the mask to the cross-attention but not to the encoder's self-attention, so padding affects the encoder's
    output for every word.
    """
    return self.encoder_attention(states, states, None)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="masking")
def cross_attention_unmasked(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """Your decoder attends to padding.

    You pass the mask to the encoder's self-attention but not to the cross-attention. The mask applies to the keys, and
    these come from the source in both.
    """
    return self.cross_attention(states, memory, None)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="numerics")
def cross_attention_in_step(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """Your cross-attention masks later words of the source.

    A causal mask keeps a sequence from attending to its own future. The whole source is known: every target word may
    attend to all of it.
    """
    seen = torch.ones(states.shape[1], memory.shape[1], dtype=torch.bool).tril()
    mask = seen if src_mask is None else seen & (src_mask != 0)
    return self.cross_attention(states, memory, mask)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.look_around", dimension="numerics")
def encoder_hides_the_future(self: Any, states: Tensor, src_mask: Tensor | None) -> Attended:
    """Your encoder masks later words.

    The whole source is known: in the encoder, every word may attend to every other word, before and after it.
    """
    seen = torch.ones(states.shape[1], states.shape[1], dtype=torch.bool).tril()
    mask = seen if src_mask is None else seen & (src_mask != 0)
    return self.encoder_attention(states, states, mask)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.finish_encoder", dimension="numerics")
def encoder_without_residual(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your encoder's attention has no residual connection.

    The output of the LSTM reaches the norm only through attention. The input of the norm must be a sum of two terms.
    """
    return self.encoder_norm(attended)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.finish_decoder", dimension="numerics")
def decoder_without_residual(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your cross-attention has no residual connection.

    The decoder's own state affects the output only through the attention weights. The input of the norm must be a sum
    of two terms.
    """
    return self.cross_norm(attended)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="add_residual", dimension="numerics")
def no_residuals(states: Tensor, attended: Tensor) -> Tensor:
    """Neither of your attentions has a residual connection.

    The input of each norm must be a sum of two terms: the output of the attention and the states before it.
    """
    return attended


@mistake(replaces="AttentionSeq2Seq.finish_encoder", dimension="numerics")
def encoder_norm_missing(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your encoder does not apply its norm.

    You use the sum of states and attention output without normalising it. If you create the norm, check that you call
    it.
    """
    return states + attended


@mistake(replaces="AttentionSeq2Seq.finish_decoder", dimension="numerics")
def cross_norm_missing(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your decoder does not apply its norm.

    You use the sum of states and attention output without normalising it. If you create the norm, check that you call
    it.
    """
    return states + attended


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="numerics")
def one_attention_for_both(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """Your decoder uses the encoder's attention module.

    Both modules have the same shapes, so no error is raised, but `cross_attention` is never used.
    """
    return self.encoder_attention(states, memory, src_mask)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="MultiHeadAttention.project", dimension="numerics")
def keys_and_values_swapped(self: Any, asking: Tensor, answering: Tensor) -> Projections:
    """You swap W_key and W_value.

    You compare the queries with the output of W_value and average the output of W_key. Check where you use each of the
    two. If you unpack or chunk several projections at once, check their order.
    """
    return self.W_query(asking), self.W_value(answering), self.W_key(answering)


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="shapes")
def source_asks(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """In your cross-attention, the queries come from the source.

    Your output then has a row for each source word. The queries must come from the decoder's states, the keys and
    values from the encoder's output.
    """
    return self.cross_attention(memory, states, None)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="shapes")
def target_attends_to_itself(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """Your decoder attends to itself instead of the source.

    No source word affects the output. Keys and values must come from the encoder's output.
    """
    return self.cross_attention(states, states, None)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.predict", dimension="numerics")
def probabilities_for_logits(self: Any, states: Tensor) -> Tensor:
    """You return probabilities instead of logits.

    Cross-entropy, the loss for training, applies the softmax itself. Return the output of `output_projection`.
    """
    return torch.softmax(self.output_projection(states), dim=-1)


@mistake(replaces="AttentionSeq2Seq.predict", dimension="shapes")
def last_word_alone(self: Any, states: Tensor) -> Tensor:
    """You return logits for one position only.

    Training compares every position with the next word, so return logits for every position of the target.
    """
    return self.output_projection(states[:, -1])  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.forward", dimension="shapes")
def attention_averaged_over_heads(self: Any, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None) -> Attended:
    """The attention weights that you return have no head axis.

    Return the weights of every head: do not average them, and do not pick one head.
    """
    states, weights = self.decode(tgt, self.encode(src, src_mask), src_mask)
    return self.predict(states), weights.mean(dim=1)


@mistake(replaces="AttentionSeq2Seq.forward", dimension="shapes")
def encoder_weights_returned(self: Any, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None) -> Attended:
    """You return the attention weights of the encoder's self-attention.

    They say where source words attend in the source. Return the weights of the cross-attention, which say where the
    decoder attends.
    """
    source = self.read_source(self.embed_source(src))
    attended, weights = self.look_around(source, src_mask)
    states, _ = self.decode(tgt, self.finish_encoder(source, attended), src_mask)
    return self.predict(states), weights


@mistake(replaces="AttentionSeq2Seq.look_back", dimension="gradients")
def memory_cut_off(self: Any, states: Tensor, memory: Tensor, src_mask: Tensor | None) -> Attended:
    """No gradient flows back into your encoder.

    The logits are right, but no parameter of the encoder learns. Look for `detach()`, `.data` or `no_grad` around the
    encoder's output.
    """
    return self.cross_attention(states, memory.detach(), src_mask)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="waves", dimension="numerics")
def sine_and_cosine_swapped(turned: Tensor) -> Tensor:
    """You put cosines into the even features and sines into the odd ones.

    Swap the two: the feature with index 0 is a sine.
    """
    return torch.stack((turned.cos(), turned.sin()), dim=-1).flatten(-2)


@mistake(replaces="angles", dimension="numerics")
def base_1000(time: int, d_model: int) -> Tensor:
    """The base of your wavelengths is 1,000 instead of 10,000.

    Count the zeros in your base.
    """
    positions = torch.arange(time, dtype=torch.get_default_dtype())[:, None]
    return positions * 1000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.get_default_dtype()) / d_model)


@mistake(replaces="add_positions", dimension="numerics")
def positions_scaled_as_well(embedded: Tensor) -> Tensor:
    """You multiply by √d_model after adding the positions.

    Multiply only the embeddings. The factor makes them large relative to the positions; applied to the sum, it does not
    change their ratio.
    """
    root = math.sqrt(embedded.shape[2])
    return root * _with_waves(embedded / root, embedded)


@mistake(replaces="AttentionSeq2Seq.finish_decoder", dimension="numerics")
def one_norm_for_both(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your decoder uses the encoder's norm.

    Both norms have the same shape, so no error is raised, but `cross_norm` is never used.
    """
    return self.encoder_norm(states + attended)  # type: ignore[no-any-return]  # a module's own part


@mistake(replaces="AttentionSeq2Seq.finish_decoder", dimension="numerics")
def cross_norm_before_the_sum(self: Any, states: Tensor, attended: Tensor) -> Tensor:
    """Your decoder normalises the attention output before adding the states.

    Here the norm comes after the sum: add first, then normalise.
    """
    return states + self.cross_norm(attended)  # type: ignore[no-any-return]  # a module's own part


def _with_waves(scaled: Tensor, like: Tensor) -> Tensor:
    """Return embeddings (B, T, d_model) with the sines and cosines of their positions added."""
    time, width = like.shape[1:]
    positions = torch.arange(time, dtype=torch.get_default_dtype())[:, None]
    even = torch.arange(0, width, 2, dtype=torch.get_default_dtype())
    turned = positions * 10000.0 ** (-even / width)
    return scaled + torch.stack((turned.sin(), turned.cos()), dim=-1).flatten(-2)
