"""The reference of local attention."""

import pytest
import torch
from torch.nn import functional as F

from reference.local_attention import STRETCH, local_attention
from tests.reference.conftest import draw


def allowed(time, window):
    """Return the window as a table of booleans, cell by cell from the contract's words."""
    table = torch.zeros(time, time, dtype=torch.bool)
    for i in range(time):
        for j in range(time):
            table[i, j] = abs(i - j) <= window
    return table


@pytest.mark.parametrize("window", [0, 1, 2, 5, 12, 40])
@pytest.mark.parametrize("time", [1, 5, 13, STRETCH, STRETCH + 1, 2 * STRETCH + 7])
def test_it_agrees_with_torch_under_the_window(time, window):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention with the window as its mask."""
    tensors = [draw(2, 3, time, 4, seed=seed) for seed in (1, 2, 3)]
    upstream = draw(2, 3, time, 4, seed=4)
    ours, theirs = ([tensor.clone().requires_grad_() for tensor in tensors] for _ in range(2))

    output = local_attention(*ours, window)
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=allowed(time, window))
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0.0, atol=1e-12)


def test_a_window_as_long_as_the_sequence_sees_everything():
    """From there on it is plain attention."""
    query, key, value = (draw(2, 3, 9, 4, seed=seed) for seed in (1, 2, 3))

    found = local_attention(query, key, value, 8)

    torch.testing.assert_close(found, F.scaled_dot_product_attention(query, key, value), rtol=0.0, atol=1e-12)


def test_a_sequence_turned_round_gives_the_output_turned_round():
    """Left and right are the same."""
    query, key, value = (draw(1, 2, 50, 4, seed=seed) for seed in (1, 2, 3))

    forth = local_attention(query, key, value, 3)
    back = local_attention(query.flip(2), key.flip(2), value.flip(2), 3).flip(2)

    torch.testing.assert_close(forth, back, rtol=0.0, atol=1e-12)


def test_the_example_of_the_statement_comes_out():
    """Equal scores, four values, window 1."""
    values = torch.tensor([10.0, 20.0, 30.0, 40.0]).reshape(1, 1, 4, 1)
    nothing = torch.zeros(1, 1, 4, 1)

    found = local_attention(nothing, nothing, values, 1).flatten()

    torch.testing.assert_close(found, torch.tensor([15.0, 20.0, 30.0, 35.0]))
