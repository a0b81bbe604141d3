"""The reference of the rotary position encoding."""

import cmath

import pytest
import torch

from reference.rotary_encoding import apply_rotary
from tests.reference.conftest import draw


def turned(x, base, offset):
    """Return x with each pair, read as a complex number, times e^(iθ): number by number, in Python."""
    result = x.clone()
    batch, heads, time, width = x.shape
    for place in torch.cartesian_prod(*map(torch.arange, (batch, heads, time, width // 2))).tolist():
        b, h, t, i = place
        angle = (offset + t) / base ** (2 * i / width)
        point = complex(x[b, h, t, 2 * i], x[b, h, t, 2 * i + 1]) * cmath.exp(1j * angle)
        result[b, h, t, 2 * i], result[b, h, t, 2 * i + 1] = point.real, point.imag
    return result


@pytest.mark.parametrize(("base", "offset"), [(10000.0, 0), (10000.0, 7), (100.0, 0), (500.0, 3), (10000.0, 3000)])
@pytest.mark.parametrize("time", [1, 5])
def test_each_pair_is_multiplied_by_a_complex_number(time, base, offset):
    """A rotation of the plane is a product of complex numbers."""
    x = draw(2, 3, time, 8, seed=1)

    found = apply_rotary(x, base=base, offset=offset)

    torch.testing.assert_close(found, turned(x, base, offset), rtol=0.0, atol=1e-11)


def test_its_gradient_turns_back():
    """The gradient of a rotation is the rotation by the opposite angles, here as torch multiplies complex numbers."""
    x, upstream = draw(2, 3, 5, 8, seed=1).requires_grad_(), draw(2, 3, 5, 8, seed=2)
    frequencies = 10000.0 ** -torch.tensor([0.0, 0.25, 0.5, 0.75], dtype=torch.float64)
    angles = torch.outer(torch.arange(4, 9, dtype=torch.float64), frequencies)

    apply_rotary(x, offset=4).backward(upstream)

    pairs = torch.view_as_complex(upstream.unflatten(-1, (4, 2)))
    expected = torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), -angles)).flatten(-2)
    torch.testing.assert_close(x.grad, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("query_at", "key_at", "shift"), [(0, 0, 5), (7, 2, 11), (3, 40, 100)])
def test_scores_depend_on_the_distance_alone(query_at, key_at, shift):
    """Moving query and key by the same way, from two different places, leaves their dot products as they are."""
    query, key = draw(2, 3, 1, 8, seed=1), draw(2, 3, 1, 8, seed=2)

    def scores(way):
        return (apply_rotary(query, offset=query_at + way) * apply_rotary(key, offset=key_at + way)).sum(dim=-1)

    torch.testing.assert_close(scores(shift), scores(0), rtol=0.0, atol=1e-12)


def test_scores_do_depend_on_the_distance():
    """Moving the key alone changes the dot products: an answer that turns nothing would not."""
    query, key = draw(2, 3, 1, 8, seed=1), draw(2, 3, 1, 8, seed=2)

    near = (apply_rotary(query, offset=7) * apply_rotary(key, offset=6)).sum(dim=-1)
    far = (apply_rotary(query, offset=7) * apply_rotary(key, offset=2)).sum(dim=-1)

    assert float((near - far).abs().min()) > 1e-3


def test_an_offset_continues_the_sequence():
    """A part of a sequence, told where it stands, gives that part of the whole."""
    x = draw(2, 3, 9, 6, seed=1)

    parts = [apply_rotary(x[:, :, :4]), apply_rotary(x[:, :, 4:], offset=4)]

    torch.testing.assert_close(torch.cat(parts, dim=2), apply_rotary(x), rtol=0.0, atol=1e-12)


def test_the_examples_of_the_statement_come_out():
    """Two frequencies, 1 and 0.01, at positions 0 to 2."""
    ones = torch.tensor([1.0, 0.0, 1.0, 0.0]).expand(1, 1, 3, 4)
    expected = torch.tensor([[1.0, 0.0, 1.0, 0.0], [0.5403, 0.8415, 0.9999, 0.01], [-0.4161, 0.9093, 0.9998, 0.02]])
    other = torch.tensor([1.0, 2.0, 3.0, 4.0]).reshape(1, 1, 1, 4)

    torch.testing.assert_close(apply_rotary(ones)[0, 0], expected, rtol=0.0, atol=6e-5)
    torch.testing.assert_close(apply_rotary(ones, offset=2)[0, 0, 0], expected[2], rtol=0.0, atol=6e-5)
    found = apply_rotary(other, offset=1).flatten()
    torch.testing.assert_close(found, torch.tensor([-1.1426, 1.9221, 2.9599, 4.0298]), rtol=0.0, atol=6e-5)


def test_angles_keep_their_digits_in_short_numbers():
    """In bfloat16, 257 is 256: angles computed in it are a radian off, and the first pair by up to twice its length."""
    x = draw(1, 1, 1, 8, seed=5)

    short = apply_rotary(x.bfloat16(), offset=257)

    assert short.dtype == torch.bfloat16
    assert torch.allclose(short.double(), apply_rotary(x, offset=257), atol=0.05)
