"""The reference of the translator with attention."""

import math

import pytest
import torch
from torch import nn

from reference.attention_seq2seq import AttentionSeq2Seq, MultiHeadAttention, add_positions, amplify
from reference.sinusoidal_encoding import table
from tests.reference.conftest import draw


@pytest.fixture(autouse=True)
def _double():
    """Work in float64, as the box does."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def torchs_attention(own):
    """Return nn.MultiheadAttention with the weights of `own`."""
    width = own.W_out.out_features
    other = nn.MultiheadAttention(width, own.num_heads, batch_first=True)
    with torch.no_grad():
        layers = (own.W_query, own.W_key, own.W_value)
        other.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        other.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
        other.out_proj.load_state_dict(own.W_out.state_dict())
    return other.eval()


def random_model(num_layers):
    """Return a model in evaluation mode whose norms and biases are not those that they begin with."""
    torch.manual_seed(0)
    model = AttentionSeq2Seq(7, 9, 12, 3, num_layers).eval()
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.add_(0.1 * draw(*parameter.shape, seed=number))
    return model


def by_torch(model, src, tgt, hidden):
    """Return logits and weights from torch's own modules, holding the model's weights; `hidden` marks padding."""

    def attend(part, asking, answering):
        return torchs_attention(part)(asking, answering, answering, key_padding_mask=hidden, average_attn_weights=False)

    def embed(embedding, tokens):
        return embedding(tokens) * math.sqrt(12) + table(50, 12)[: tokens.shape[1]]

    states, _ = model.encoder_lstm(embed(model.src_embedding, src))
    memory = model.encoder_norm(states + attend(model.encoder_attention, states, states)[0])
    states, _ = model.decoder_lstm(embed(model.tgt_embedding, tgt))
    gathered, weights = attend(model.cross_attention, states, memory)
    return model.output_projection(model.cross_norm(states + gathered)), weights


@pytest.mark.parametrize("num_layers", [1, 2])
@pytest.mark.parametrize("padded", [False, True])
def test_it_is_what_torchs_own_modules_give(padded, num_layers):
    """nn.MultiheadAttention in the place of the attentions: the same logits, weights and gradients of embeddings."""
    model = random_model(num_layers)
    src, tgt = torch.tensor([[1, 2, 3, 4, 5], [6, 5, 4, 0, 0]]), torch.tensor([[1, 2, 8], [3, 0, 7]])
    mask = (src != 0)[:, None, None] if padded else None
    upstream = draw(2, 3, 9, seed=5)

    logits, weights = model(src, tgt, mask)
    expected, same = by_torch(model, src, tgt, src == 0 if padded else None)
    tables = [model.src_embedding.weight, model.tgt_embedding.weight]
    ours, theirs = (torch.autograd.grad(one, tables, upstream) for one in (logits, expected))

    torch.testing.assert_close(logits, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(weights, same, rtol=0.0, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=0.0, atol=1e-11)


def test_the_decoder_does_not_see_ahead():
    """Logits of the first words stay as they are when more words follow."""
    model, src = random_model(2), torch.tensor([[1, 2, 3, 4]])
    short, _ = model(src, torch.tensor([[5, 6]]))
    long, _ = model(src, torch.tensor([[5, 6, 7, 8]]))

    torch.testing.assert_close(short, long[:, :2], rtol=0.0, atol=1e-12)


def test_the_example_of_the_statement_is_right():
    """One word at positions 0 and 1, as it goes into the LSTM."""
    word = torch.tensor([0.5, 0.0, -0.5, 1.0])

    found = add_positions(amplify(word.expand(1, 2, 4)))

    expected = torch.tensor([[[1.0, 1.0, -1.0, 3.0], [1.8415, 0.5403, -0.9900, 3.0000]]])
    torch.testing.assert_close(found, expected, rtol=0.0, atol=6e-5)


def test_equal_scores_share_equally_among_words():
    """Three words and padding: a third each, and nothing."""
    attention = MultiHeadAttention(4, 2, 0.0)
    with torch.no_grad():
        for parameter in attention.W_key.parameters():
            parameter.zero_()

    _, weights = attention(draw(1, 2, 4, seed=1), draw(1, 4, 4, seed=2), torch.tensor([[[[True, True, True, False]]]]))

    expected = torch.tensor([1.0, 1.0, 1.0, 0.0]).div(3).expand(1, 2, 2, 4)
    torch.testing.assert_close(weights, expected, rtol=0.0, atol=1e-12)
