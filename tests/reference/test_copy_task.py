"""The reference of the copying lab, by itself and inside the model."""

import pytest
import torch
from torch.nn import functional as F

from grader.box.plan import Entry, Kind
from grader.box.train import BEGIN, PAD
from grader.exercise.labs.copy_task.lab import Copier
from reference.copy_task import scaled_dot_product_attention
from tests.reference.conftest import draw

CONTRACT = Entry("scaled_dot_product_attention", Kind.TRAIN, ("query", "key", "value", "mask"))
MASKS = {
    "none": None,
    "future": torch.ones(5, 7, dtype=torch.bool).tril(),
    "padding": (torch.arange(7) < torch.tensor([[6], [3]]))[:, None, None],
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_it_agrees_with_torch_under_every_mask_of_the_model(mask):
    """Output and gradients in float64 are those of F.scaled_dot_product_attention."""
    tensors = draw(2, 3, 5, 4, seed=1), draw(2, 3, 7, 4, seed=2), draw(2, 3, 7, 6, seed=3)
    upstream = draw(2, 3, 5, 6, seed=4)
    ours, theirs = ([tensor.clone().requires_grad_() for tensor in tensors] for _ in range(2))

    output, _ = scaled_dot_product_attention(*ours, mask)
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=mask)
    output.backward(upstream)
    expected.backward(upstream)

    torch.testing.assert_close(output, expected, rtol=0.0, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0.0, atol=1e-12)


def model():
    """Return the lab's model around the reference, as torch begins it."""
    torch.manual_seed(5)
    return Copier(scaled_dot_product_attention, CONTRACT, vocab_size=14, width=8, num_heads=2, time=6)


def test_the_decoder_is_told_nothing_of_what_it_must_say():
    """A later word changes nothing that is said before it; an earlier one does."""
    copier, source, before = model(), torch.tensor([[4, 9, 7, 3]]), torch.tensor([[BEGIN, 4, 9, 7]])
    changed = before.clone()
    changed[0, 2] = 12

    plain, other = (copier(source, tokens)[0] for tokens in (before, changed))

    assert torch.equal(plain[:, :2], other[:, :2])
    assert not torch.equal(plain[:, 2:], other[:, 2:])


def test_padding_changes_nothing():
    """A sequence has the same logits, and costs the same, however far it is padded."""
    copier, short = model(), torch.tensor([[4, 9, 7]])
    long = F.pad(short, (0, 3), value=PAD)

    torch.testing.assert_close(copier.loss(short, short), copier.loss(long, long))
    torch.testing.assert_close(copier(short, short)[0], copier(long, short)[0])
