"""The reference of attention with sinks."""

import pytest
import torch
from torch.nn import functional as F

from reference.attention_sinks import sink_attention, visible
from tests.reference.conftest import draw


def allowed(time, window, num_sinks):
    """Return the pattern as a table of booleans, cell by cell from the contract's words."""
    table = torch.zeros(time, time, dtype=torch.bool)
    for i in range(time):
        for j in range(i + 1):
            table[i, j] = j < num_sinks or i - j < window
    return table


@pytest.mark.parametrize(("window", "num_sinks"), [(1, 0), (1, 1), (3, 0), (3, 2), (2, 5), (20, 1), (4, 20)])
@pytest.mark.parametrize("time", [1, 5, 12])
def test_it_agrees_with_torch_under_the_pattern(time, window, num_sinks):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention with the pattern as its mask."""
    tensors = [draw(2, 3, time, 4, seed=seed) for seed in (1, 2, 3)]
    upstream = draw(2, 3, time, 4, seed=4)
    ours, theirs = ([tensor.clone().requires_grad_() for tensor in tensors] for _ in range(2))

    output = sink_attention(*ours, window, num_sinks)
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=allowed(time, window, num_sinks))
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("window", "num_sinks"), [(9, 0), (1, 9), (5, 4)])
def test_it_is_causal_attention_where_nothing_falls_between(window, num_sinks):
    """A window or sinks that reach over the whole sequence, alone or together, hide the future only."""
    query, key, value = (draw(2, 3, 9, 4, seed=seed) for seed in (1, 2, 3))

    found = sink_attention(query, key, value, window, num_sinks)

    expected = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    torch.testing.assert_close(found, expected, rtol=0.0, atol=1e-12)


def test_a_stream_with_a_bounded_cache_gives_the_same():
    """Token by token, with a cache that keeps the sinks and the window and forgets the rest."""
    query, key, value = (draw(2, 3, 12, 4, seed=seed) for seed in (1, 2, 3))
    window, num_sinks, kept, outputs = 3, 2, [], []

    for now in range(12):
        kept = [past for past in [*kept, now] if past < num_sinks or past > now - window]
        seen = key[:, :, kept], value[:, :, kept]
        outputs.append(F.scaled_dot_product_attention(query[:, :, now : now + 1], *seen))

    found = sink_attention(query, key, value, window, num_sinks)
    torch.testing.assert_close(found, torch.cat(outputs, dim=2), rtol=0.0, atol=1e-12)
    assert len(kept) == window + num_sinks


def test_sinks_in_the_future_stay_hidden():
    """Before the last sink, the pattern is the causal one."""
    pattern = visible(torch.zeros(7, 7), 2, 4)

    assert torch.equal(pattern[:4], torch.ones(4, 7, dtype=torch.bool).tril())


def test_the_example_of_the_statement_comes_out():
    """Equal scores, five values, a window of 2, one sink."""
    values = torch.tensor([10.0, 20.0, 30.0, 40.0, 50.0]).reshape(1, 1, 5, 1)
    nothing = torch.zeros(1, 1, 5, 1)

    found = sink_attention(nothing, nothing, values, 2, 1).flatten()

    torch.testing.assert_close(found, torch.tensor([10.0, 15.0, 20.0, 80 / 3, 100 / 3]))
