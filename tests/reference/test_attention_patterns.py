"""The reference of the lab on heads, and the model that it looks into."""

import pytest
import torch
from safetensors.torch import load_file

from exercises.attention_patterns.train import JOBS, PLACE, SIZES
from grader.exercise.labs.attention_patterns.lab import Reader
from reference.attention_patterns import classify_heads, extract_attention


@pytest.fixture
def trained():
    """Return the trained model."""
    model = Reader(**SIZES)
    model.load_state_dict(load_file(PLACE))
    return model


def test_the_hooks_see_what_the_layers_give_by_hand(trained):
    """Going through the model layer by layer gives the very same weights, and rows that add up to one."""
    tokens = torch.tensor([[3, 7, 1, 0, 11, 5, 2], [4, 4, 8, 9, 10, 6, 0]])
    x = trained.embedding(tokens) + trained.position.weight[:7]

    found = extract_attention(trained, tokens)

    for layer, weights in zip(trained.layers, found, strict=True):
        torch.testing.assert_close(weights, layer.attention(x)[1], rtol=0.0, atol=0.0)
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 7))
        x = layer(x)


@pytest.mark.parametrize("words", [7, 9, 12])
def test_each_trained_head_does_the_job_that_it_was_given(trained, words):
    """Whatever the sentence, as long as no word comes twice."""
    generator = torch.Generator().manual_seed(words)
    for _ in range(20):
        tokens = torch.randperm(SIZES["vocab_size"], generator=generator)[None, :words]

        names = [tuple(classify_heads(weights[0])) for weights in extract_attention(trained, tokens)]

        assert tuple(names) == JOBS


def test_a_head_that_finds_its_own_word_finds_it_twice_where_it_comes_twice(trained):
    """The head with that job looks for the word, not for the place, as the statement says."""
    tokens = torch.tensor([[3, 7, 1, 5, 11, 7, 2, 0, 4]])
    head = JOBS[0].index("self")

    weights = extract_attention(trained, tokens)[0][0, head]

    assert weights[1, [1, 5]].sum() > 0.8
    assert weights[1, 5] > 0.2


def test_the_statement_reckons_rightly():
    """The worked example is called `previous`, with a share of 0.8."""
    weights = torch.tensor(
        [[0.6, 0.1, 0.1, 0.1, 0.1], [0.8, 0.2, 0, 0, 0], [0.1, 0.7, 0.1, 0.1, 0], [0, 0.1, 0.9, 0, 0], [0.2] * 5]
    )
    queries = torch.tensor([2, 3])

    assert classify_heads(weights[None]) == ["previous"]
    torch.testing.assert_close(weights[queries, queries - 1].mean(), torch.tensor(0.8))
    torch.testing.assert_close(weights[queries, queries + 1].mean(), torch.tensor(0.05))


def test_one_half_is_enough_for_a_name():
    """The bound itself belongs to the names."""
    half = 0.5 * torch.eye(6) + 0.5 * torch.eye(6).roll(2, 1)

    assert classify_heads(torch.stack([half, 0.98 * half + 0.02 / 6])) == ["self", "uniform"]
