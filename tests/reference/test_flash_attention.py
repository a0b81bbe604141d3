"""The reference of flash attention."""

import math

import pytest
import torch
from torch.nn import functional as F

from reference.flash_attention import flash_attention
from tests.reference.conftest import draw


def plain_logsumexp(query, key, causal):
    """Return the log-sum-exp of the whole table of scores."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), float("-inf"))
    return torch.logsumexp(scores, dim=-1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("block_size", [1, 2, 3, 4, 13, 64])
@pytest.mark.parametrize("time", [1, 5, 12, 13])
def test_it_agrees_with_torch_whatever_the_block(time, block_size, causal):
    """Both outputs and all gradients in float64 are those of F.scaled_dot_product_attention and torch.logsumexp."""
    tensors = [draw(2, 3, time, 4, seed=seed) for seed in (1, 2, 3)]
    upstream, upstream_log = draw(2, 3, time, 4, seed=4), draw(2, 3, time, seed=5)
    ours, theirs = ([tensor.clone().requires_grad_() for tensor in tensors] for _ in range(2))

    output, logsumexp = flash_attention(*ours, block_size, causal)
    expected = F.scaled_dot_product_attention(*theirs, is_causal=causal)
    expected_log = plain_logsumexp(*theirs[:2], causal)
    torch.autograd.backward([output, logsumexp], [upstream, upstream_log])
    torch.autograd.backward([expected, expected_log], [upstream, upstream_log])

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(logsumexp, expected_log, rtol=0.0, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0.0, atol=1e-12)


def test_the_default_block_is_sixty_four():
    """Left out, it is 64: the results are bitwise those of 64, a length of 70 has two tiles."""
    tensors = [draw(1, 2, 70, 4, seed=seed) for seed in (1, 2, 3)]

    found, expected = flash_attention(*tensors), flash_attention(*tensors, 64)

    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def test_scores_past_the_exponentials_range_are_no_trouble():
    """Logits of thousands, that rise from tile to tile, overflow nowhere."""
    query, key, value = (draw(1, 2, 9, 4, seed=seed) for seed in (1, 2, 3))
    key = key + torch.arange(9.0)[:, None] * 1000

    output, logsumexp = flash_attention(query, key, value, 2)

    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value), rtol=0.0, atol=1e-9)
    torch.testing.assert_close(logsumexp, plain_logsumexp(query, key, causal=False), rtol=1e-12, atol=0.0)


def test_the_example_of_the_statement_comes_out():
    """Scores 0, ln 2 and ln 6, values 10, 20 and 30, blocks of 2."""
    query = torch.ones(1, 1, 3, 1, dtype=torch.float64)
    key = torch.tensor([1.0, 2.0, 6.0], dtype=torch.float64).log().reshape(1, 1, 3, 1)
    value = torch.tensor([10.0, 20.0, 30.0], dtype=torch.float64).reshape(1, 1, 3, 1)

    output, logsumexp = flash_attention(query, key, value, block_size=2)

    assert output[0, 0, 0, 0].item() == pytest.approx(230 / 9)
    assert logsumexp[0, 0, 0].item() == pytest.approx(math.log(9))
