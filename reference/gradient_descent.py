"""Gradient descent in one dimension, with the derivative from autograd.

Notation: n steps, n + 1 points.
Source: Cauchy (1847); PyTorch documentation, torch.autograd.grad.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Function = Callable[[Tensor], Tensor]


def start(x0: float) -> Tensor:
    """Return the start as a scalar tensor, ()."""
    return torch.tensor(x0)


def slope(f: Function, x: Tensor) -> Tensor:
    """Return the derivative of `f` at x, ()."""
    x = x.detach().requires_grad_()
    (found,) = torch.autograd.grad(f(x), x)
    return found


def step(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """Return the next point: x minus the learning rate times the gradient."""
    return x - learning_rate * gradient


def walk(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Return the start and the point after each step."""
    points = [x]
    for _ in range(num_steps):
        points.append(step(points[-1], slope(f, points[-1]), learning_rate))
    return points


def collect(points: list[Tensor]) -> Tensor:
    """Return the points as one tensor, (n + 1,)."""
    return torch.stack(points)


def gradient_descent(f: Function, x0: float, learning_rate: float, num_steps: int) -> Tensor:
    """Return the points x_0 to x_n of `num_steps` steps of gradient descent from `x0`, (num_steps + 1,)."""
    return collect(walk(f, start(x0), learning_rate, num_steps))
