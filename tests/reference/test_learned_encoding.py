"""The reference of the learned encoding."""

import pytest
import torch
from transformers import GPT2Config, GPT2Model

from reference.learned_encoding import LearnedPositionalEncoding


def draw(*shape, seed):
    """Return standard normal numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_a_published_model_adds_the_same():
    """The embeddings of GPT-2 are its tokens' plus those of their positions, from a table just like this one."""
    config = GPT2Config(vocab_size=11, n_positions=9, n_embd=6, n_layer=0, n_head=2, bos_token_id=0, eos_token_id=0)
    theirs = GPT2Model(config).eval()
    ours = LearnedPositionalEncoding(6, max_len=9).eval()
    ours.position_embeddings.weight.data.copy_(theirs.wpe.weight.data)
    tokens = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])

    expected = theirs(tokens).last_hidden_state

    # Without layers, what is left of the model is the embeddings and one last LayerNorm.
    found = theirs.ln_f(ours(theirs.wte(tokens)))
    torch.testing.assert_close(found, expected)


def test_a_published_model_begins_the_same():
    """GPT-2 draws its table with the standard deviation that the contract asks for, and so does this one."""
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=5, n_positions=512, n_embd=64, n_layer=0, n_head=2, bos_token_id=0, eos_token_id=0)
    theirs = GPT2Model(config).wpe.weight.detach()
    ours = LearnedPositionalEncoding(64).position_embeddings.weight.detach()

    for table in (ours, theirs):
        assert table.shape == (512, 64)
        assert float(table.std()) == pytest.approx(0.02, rel=0.02)
        assert float(table.mean()) == pytest.approx(0.0, abs=0.0006)


def test_each_row_learns_what_the_whole_batch_has_to_say():
    """A row's gradient is the sum over the batch; rows that are not used have none."""
    module = LearnedPositionalEncoding(4, max_len=7, dropout=0.0)
    x, upstream = draw(3, 5, 4, seed=1).requires_grad_(), draw(3, 5, 4, seed=2)

    module(x).backward(upstream)

    grad = module.position_embeddings.weight.grad
    torch.testing.assert_close(grad[:5], upstream.sum(dim=0))
    assert not grad[5:].any()
    assert torch.equal(x.grad, upstream)


def test_training_drops_elements_of_the_sum():
    """In training mode each element is zero, or the sum divided by the probability of staying."""
    module = LearnedPositionalEncoding(6, max_len=9, dropout=0.25)
    x = draw(2, 5, 6, seed=1)
    torch.manual_seed(2)

    dropped = module(x)

    total = (x + module.position_embeddings.weight[:5]) / 0.75
    torch.testing.assert_close(dropped, torch.where(dropped == 0, 0.0, total))
    assert 0 < int((dropped == 0).sum()) < dropped.numel()


def test_the_defaults_are_the_contracts():
    """Without further arguments there are 512 positions and a dropout of 0.1."""
    module = LearnedPositionalEncoding(4)

    assert module.position_embeddings.weight.shape == (512, 4)
    assert module.dropout.p == 0.1


def test_the_statements_example_is_true():
    """The table and the input of the statement give what is printed there."""
    module = LearnedPositionalEncoding(2, max_len=4).eval()
    module.position_embeddings.weight.data.copy_(torch.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]]))

    found = module(torch.tensor([[[1.0, 1.0], [1.0, 1.0], [2.0, 0.0]]]))

    torch.testing.assert_close(found, torch.tensor([[[1.1, 1.2], [1.3, 1.4], [2.5, 0.6]]]))
