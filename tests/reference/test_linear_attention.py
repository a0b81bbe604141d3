"""The reference of linear attention, and the inputs that make an epsilon harmless."""

import pytest
import torch
from torch.nn import functional as F

from grader.exercise.catalog import ROOT, read_exercise
from reference.linear_attention import linear_attention
from tests.reference.conftest import draw


def by_weights(query, key, value, causal):
    """Return the output by its definition: all weights, each row divided by its sum."""
    weights = (F.elu(query) + 1) @ (F.elu(key) + 1).transpose(-2, -1)
    if causal:
        weights = weights.tril()
    return weights @ value / weights.sum(dim=-1, keepdim=True)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("time", "d", "d_v"), [(1, 4, 5), (6, 4, 5), (13, 3, 7), (5, 8, 2)])
def test_it_agrees_with_its_definition(time, d, d_v, causal):
    """Output and gradients in float64 are those of the weights written out."""
    tensors = [draw(2, 3, time, width, seed=seed) for seed, width in ((1, d), (2, d), (3, d_v))]
    upstream = draw(2, 3, time, d_v, seed=4)
    ours, theirs = ([tensor.clone().requires_grad_() for tensor in tensors] for _ in range(2))

    output, expected = linear_attention(*ours, causal), by_weights(*theirs, causal)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0.0, atol=1e-12)


def test_the_last_causal_position_sees_what_all_see_without():
    """The sums up to the last position are the sums over everything."""
    query, key, value = (draw(2, 3, 7, 4, seed=seed) for seed in (1, 2, 3))

    causal, full = linear_attention(query, key, value, True), linear_attention(query, key, value)

    torch.testing.assert_close(causal[:, :, -1], full[:, :, -1], rtol=0.0, atol=1e-12)


def test_the_example_of_the_statement_comes_out():
    """Queries 0 and 1, keys 0 and 2, values 10 and 20."""
    query, key, value = (torch.tensor(pair).reshape(1, 1, 2, 1) for pair in ([0.0, 1.0], [0.0, 2.0], [10.0, 20.0]))

    full, causal = linear_attention(query, key, value), linear_attention(query, key, value, causal=True)

    torch.testing.assert_close(full.flatten(), torch.tensor([17.5, 17.5]))
    torch.testing.assert_close(causal.flatten(), torch.tensor([10.0, 17.5]))


@pytest.mark.parametrize("seed", range(5))
def test_every_denominator_is_as_large_as_the_inputs_say(seed):
    """It is at least 2 L² in every row, whoever of queries and keys `influence` turns round; but one case has 1/2."""
    cases = dict(read_exercise(ROOT / "exercises" / "linear_attention").cases(seed))
    query, key = (F.elu(cases["small_total"].arguments[name]) + 1 for name in ("query", "key"))
    totals = query @ key.sum(dim=-2)[..., None]
    del cases["small_total"]

    assert 0.4 < float(totals.min()) <= float(totals.max()) < 0.7
    for case in cases.values():
        query, key = case.arguments["query"], case.arguments["key"]
        level = 300.0 if case.name in ("small", "causal") else 30.0
        for one in (query, 1 - 2 * query):
            for other in (key, 1 - 2 * key):
                own = ((F.elu(one) + 1) * (F.elu(other) + 1)).sum(dim=-1)  # a causal row sees at least its own key
                assert float(own.min()) >= 2 * level**2


def test_very_negative_features_stay_positive():
    """elu(x) + 1, written like that, is 0 at -20 in float32, and a row of zeros is shared out as 0/0."""
    query = key = torch.full((1, 1, 3, 2), -20.0)
    value = torch.tensor([1.0, 2.0, 6.0]).view(1, 1, 3, 1)

    output = linear_attention(query, key, value)

    assert torch.allclose(output, torch.full((1, 1, 3, 1), 3.0))
