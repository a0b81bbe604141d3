"""The references of the lab that compares, and the translator that they are compared in."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from exercises.compare_variants.inputs import alignment, translate
from grader.box.plan import Entry, Kind
from grader.exercise.labs.compare_variants.lab import Translator
from reference.compare_variants import AdditiveAttention, MultiplicativeAttention, scaled_dot_product_attention
from tests.reference.conftest import draw

STATE = ("encoder_outputs", "decoder_hidden")
CONTRACTS = {
    "products": (
        scaled_dot_product_attention,
        Entry("scaled_dot_product_attention", Kind.TRAIN, ("query", "key", "value", "mask")),
        {},
    ),
    "additive": (
        AdditiveAttention,
        Entry("AdditiveAttention", Kind.TRAIN, STATE, ("encoder_dim", "decoder_dim", "attention_dim")),
        {"attention_dim": 5},
    ),
    "multiplicative": (
        MultiplicativeAttention,
        Entry("MultiplicativeAttention", Kind.TRAIN, STATE, ("encoder_dim", "decoder_dim")),
        {},
    ),
}


def test_products_agree_with_torch():
    """Output under a mask as F.scaled_dot_product_attention has it."""
    query, key, value = draw(2, 3, 5, 4, seed=1), draw(2, 3, 7, 4, seed=2), draw(2, 3, 7, 6, seed=3)
    mask = torch.ones(5, 7, dtype=torch.bool).tril()

    output, _ = scaled_dot_product_attention(query, key, value, mask)

    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)


def test_additive_scores_are_bahdanaus():
    """Each source position by itself, in the letters of the paper."""
    attention = AdditiveAttention(4, 3, 6).double()
    outputs, state = draw(2, 5, 4, seed=4), draw(2, 3, seed=5)

    context, weights = attention(outputs, state)

    for row in range(2):
        energy = [
            attention.v @ torch.tanh(attention.W1.weight @ h + attention.W2.weight @ state[row]) for h in outputs[row]
        ]
        alpha = torch.stack(energy).softmax(0)
        torch.testing.assert_close(weights[row], alpha)
        torch.testing.assert_close(context[row], alpha @ outputs[row])


def test_general_is_torchs_bilinear_form():
    """The scores of `general` are those of nn.Bilinear with the same matrix."""
    attention = MultiplicativeAttention(4, 3).double()
    outputs, state = draw(2, 5, 4, seed=6), draw(2, 3, seed=7)
    bilinear = nn.Bilinear(3, 4, 1, bias=False).double()
    bilinear.weight.data = attention.W.weight.data[None]

    _, weights = attention(outputs, state)

    scores = bilinear(state[:, None].expand(-1, 5, -1).contiguous(), outputs)[..., 0]
    torch.testing.assert_close(weights, scores.softmax(-1))


@pytest.mark.parametrize("variant", CONTRACTS)
def test_the_translator_asks_for_each_state_by_itself(variant):
    """What it says at a place depends on the words before and on the whole source, not on later words."""
    found, contract, sizes = CONTRACTS[variant]
    torch.manual_seed(3)
    model = Translator(found, contract, vocab_size=9, encoder_dim=6, decoder_dim=4, time=5, **sizes)
    source, before = torch.tensor([[2, 3, 4, 5], [6, 7, 8, 2]]), torch.tensor([[1, 3, 4, 5], [1, 7, 8, 2]])
    later, other = before.clone(), source.clone()
    later[:, 3] = 6
    other[:, 0] = 5

    logits, weights = model(source, before)

    assert weights.shape == (2, 4, 4)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4))
    torch.testing.assert_close(logits[:, :3], model(source, later)[0][:, :3])
    assert not torch.allclose(logits[:, 0], model(other, before)[0][:, 0])


def test_the_first_word_goes_to_the_end():
    """Word for word through the dictionary, padding stays, and the alignment says where each word comes from."""
    dictionary = torch.tensor([9, 8, 7, 6])

    translated = translate(torch.tensor([[2, 3, 4, 0], [5, 2, 0, 0]]), dictionary)

    assert translated.tolist() == [[8, 7, 9, 0], [9, 6, 0, 0]]
    assert alignment(3).argmax(dim=1).tolist() == [1, 2, 0]


def test_the_statement_reckons_rightly():
    """The worked example's numbers come out."""
    outputs, state = torch.tensor([[[1.0], [0.0], [-1.0]]]), torch.tensor([[2.0]])
    additive = AdditiveAttention(1, 1, 1)
    with torch.no_grad():
        for parameter in additive.parameters():
            parameter.fill_(1.0)

    dot = MultiplicativeAttention(1, 1, "dot")(outputs, state)
    summed = additive(outputs, state)

    torch.testing.assert_close(dot[1][0], torch.tensor([0.867, 0.117, 0.016]), rtol=0.0, atol=5e-4)
    torch.testing.assert_close(dot[0][0], torch.tensor([0.851]), rtol=0.0, atol=5e-4)
    torch.testing.assert_close(summed[1][0], torch.tensor([0.362, 0.351, 0.287]), rtol=0.0, atol=5e-4)
    torch.testing.assert_close(summed[0][0], torch.tensor([0.075]), rtol=0.0, atol=5e-4)
