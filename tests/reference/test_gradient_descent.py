"""The reference of gradient descent, against closed forms and PyTorch's own optimiser."""

from __future__ import annotations

import pytest
import torch

from grader.box.plan import FUNCTIONS
from reference.gradient_descent import gradient_descent


def test_a_parabola_has_a_closed_form() -> None:
    """Each step goes the same share of the way: x_t = 3 + (x_0 - 3) (1 - 2 η)^t."""
    points = gradient_descent(FUNCTIONS["parabola"], 0.5, 0.1, 5)

    assert torch.allclose(points, 3 + (0.5 - 3) * 0.8 ** torch.arange(6), rtol=0, atol=1e-6)


def test_the_statements_example_comes_out() -> None:
    """The table that students read."""
    points = gradient_descent(FUNCTIONS["parabola"], 0.5, 0.1, 3)

    assert torch.allclose(points, torch.tensor([0.5, 1.0, 1.4, 1.72]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["tilted", "quartic", "wave", "bell"])
def test_the_points_are_those_of_plain_sgd(name: str) -> None:
    """PyTorch's optimiser takes the very same steps."""
    x = torch.nn.Parameter(torch.tensor(0.75))
    optimiser, expected = torch.optim.SGD([x], lr=0.2), [0.75]
    for _ in range(6):
        optimiser.zero_grad()
        FUNCTIONS[name](x).backward()
        optimiser.step()
        expected.append(float(x.detach()))

    found = gradient_descent(FUNCTIONS[name], 0.75, 0.2, 6)

    assert torch.allclose(found, torch.tensor(expected), rtol=0, atol=1e-6)


def test_no_step_leaves_the_start() -> None:
    """One point more than steps."""
    assert gradient_descent(FUNCTIONS["wave"], -2.5, 0.1, 0).tolist() == [-2.5]
