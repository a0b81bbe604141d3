"""The reference of the sinusoidal encoding."""

import math

import pytest
import torch

from reference.sinusoidal_encoding import SinusoidalPositionalEncoding, table


@pytest.fixture
def double():
    """Make float64 torch's default dtype for one test."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def by_the_formula(position, dimension, d_model):
    """Return one number of the table, written down as in the paper."""
    angle = position / 10000 ** (dimension // 2 * 2 / d_model)
    return math.cos(angle) if dimension % 2 else math.sin(angle)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("d_model", [2, 4, 6, 16])
def test_the_table_is_the_papers_formula(d_model):
    """Each number is the sine or cosine that the paper gives, computed by Python's own mathematics."""
    expected = [[by_the_formula(p, j, d_model) for j in range(d_model)] for p in range(200)]

    torch.testing.assert_close(table(200, d_model), torch.tensor(expected), rtol=0.0, atol=1e-12)


@pytest.mark.usefixtures("double")
def test_late_positions_are_as_exact():
    """The last of 5,000 positions is right to 1e-11."""
    expected = [by_the_formula(4999, j, 6) for j in range(6)]

    torch.testing.assert_close(table(5000, 6)[-1], torch.tensor(expected), rtol=0.0, atol=1e-11)


@pytest.mark.usefixtures("double")
def test_a_step_in_time_turns_every_pair_by_a_fixed_angle():
    """PE at p + k is a rotation of PE at p that depends on k alone, as the paper says of it."""
    d_model, k = 8, 7
    pairs = table(50, d_model).unflatten(-1, (-1, 2))  # (time, pairs, sine and cosine)
    numbers = torch.view_as_complex(pairs.contiguous())
    turns = numbers[k:] / numbers[:-k]

    torch.testing.assert_close(turns, turns[:1].expand_as(turns), rtol=0.0, atol=1e-12)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("time", [1, 5, 9])
def test_the_first_encodings_are_added_to_every_batch_row(time):
    """Up to max_len tokens, x plus the first rows of the table comes out in evaluation mode."""
    module = SinusoidalPositionalEncoding(6, max_len=9, dropout=0.5).eval()
    x = torch.randn(3, time, 6, generator=torch.Generator().manual_seed(1))

    assert torch.equal(module(x), x + table(9, 6)[:time])


def test_the_defaults_are_the_contracts():
    """Without further arguments there are 5,000 positions and a dropout of 0.1."""
    module = SinusoidalPositionalEncoding(4)

    assert module.encodings.shape == (5000, 4)
    assert module.dropout.p == 0.1


def test_the_table_is_a_buffer_and_no_parameter():
    """Nothing is trained, and the table is saved and moved with the module."""
    module = SinusoidalPositionalEncoding(4, max_len=9)

    assert list(module.parameters()) == []
    assert [name for name, _ in module.named_buffers()] == ["encodings"]


def test_training_drops_elements_of_the_sum():
    """In training mode each element is zero, or the sum divided by the probability of staying."""
    module = SinusoidalPositionalEncoding(6, max_len=9, dropout=0.25)
    x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(2)

    dropped = module(x)

    total = (x + table(9, 6)[:5]) / 0.75
    torch.testing.assert_close(dropped, torch.where(dropped == 0, 0.0, total))
    assert 0 < int((dropped == 0).sum()) < dropped.numel()
