"""What students get wrong in gradient descent."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.exercise.mistakes import mistake

Function = Callable[[Tensor], Tensor]


def _slope(f: Function, x: Tensor) -> Tensor:
    x = x.detach().requires_grad_()
    (found,) = torch.autograd.grad(f(x), x)
    return found


@mistake(replaces="step", dimension="numerics")
def uphill(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You step uphill.

    The slope points in the direction in which the function grows. Step in the opposite direction: check the sign of
    your step.
    """
    return x + learning_rate * gradient


@mistake(replaces="step", dimension="numerics")
def learning_rate_ignored(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """Your steps do not depend on the learning rate.

    You subtract the whole slope, for any rate. Multiply the slope by the learning rate first.
    """
    return x - gradient


@mistake(replaces="step", dimension="numerics")
def divided_by_the_rate(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You divide the slope by the learning rate.

    A small rate must give small steps; yours become large.
    """
    return x - gradient / learning_rate


@mistake(replaces="step", dimension="numerics")
def sign_only(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """Your steps all have the same size.

    You use only the sign of the slope, or you divide the slope by its own size. A steeper slope must give a longer
    step.
    """
    return x - learning_rate * gradient.sign()


@mistake(replaces="step", dimension="numerics")
def replaced_by_the_step(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You return the step instead of the new point.

    The next point is the current point plus the step. You do not add the current point.
    """
    return -learning_rate * gradient


@mistake(replaces="slope", dimension="numerics")
def value_for_slope(f: Function, x: Tensor) -> Tensor:
    """You use the function's value instead of its slope.

    f(x) is the height at x and does not tell in which direction the function falls. Use autograd to get the derivative
    of f at x.
    """
    return f(x)


@mistake(replaces="slope", dimension="numerics")
def forward_difference(f: Function, x: Tensor) -> Tensor:
    """You estimate the slope from two nearby values.

    A difference quotient is close on smooth curves, wrong on curves with fine ripples, and it has large rounding
    errors. Autograd gives the exact slope.
    """
    return (f(x + 1e-4) - f(x)) / 1e-4


@mistake(replaces="slope", dimension="numerics")
def central_difference(f: Function, x: Tensor) -> Tensor:
    """You estimate the slope from one value on each side.

    This is more accurate than a one-sided difference, but still wrong if the curve has ripples within that distance.
    Autograd gives the exact slope.
    """
    return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5


@mistake(replaces="walk", dimension="numerics")
def gradients_pile_up(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Your gradients accumulate over the steps.

    `backward()` adds to the existing gradient. Each step must use only the slope at its own point.
    """
    points, piled = [x], torch.zeros(())
    for _ in range(num_steps):
        piled = piled + _slope(f, points[-1])
        points.append(points[-1] - learning_rate * piled)
    return points


@mistake(replaces="walk", dimension="numerics")
def slope_of_the_start(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You use the slope at the start for every step.

    The slope changes from point to point, so compute it again in each step. Check what you compute before your loop.
    """
    points, gradient = [x], _slope(f, x)
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * gradient)
    return points


@mistake(replaces="walk", dimension="numerics")
def always_from_the_start(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Every step starts from x0.

    Each step must start from the previous point. Check which variable your update reads, and whether you change it.
    """
    return [x, *(x - learning_rate * _slope(f, x) for _ in range(num_steps))]


@mistake(replaces="walk", dimension="numerics")
def shrinking_rate(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Your steps shrink over time.

    The learning rate must stay constant. Do not divide it by the number of the step.
    """
    points = [x]
    for number in range(num_steps):
        points.append(points[-1] - learning_rate / (number + 1) * _slope(f, points[-1]))
    return points


@mistake(replaces="walk", dimension="numerics")
def momentum(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Your steps depend on earlier steps.

    You add a part of the last step to the next one, as momentum 0.9 does. Plain gradient descent uses only the slope at
    the current point.
    """
    points, speed = [x], torch.zeros(())
    for _ in range(num_steps):
        speed = 0.9 * speed + _slope(f, points[-1])
        points.append(points[-1] - learning_rate * speed)
    return points


@mistake(replaces="walk", dimension="shapes")
def a_point_missing(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """A point is missing from your trajectory.

    After n steps there are n + 1 points: the start and one point after each step. Check whether you store a point
    before or after each step, and what happens before the first and after the last step.
    """
    points = [x]
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return points[1:]


@mistake(replaces="gradient_descent", dimension="shapes")
def one_point_for_each_step(f: Function, x0: float, learning_rate: float, num_steps: int) -> Tensor:
    """Your trajectory has as many points as steps, so one is missing.

    n steps lead through n + 1 points. If you store a point before each step, the last point is missing; if you store
    one after each step, x0 is missing.
    """
    points = [torch.tensor(x0)]
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return torch.stack(points)[:-1]


@mistake(replaces="walk", dimension="numerics")
def values_of_the_function(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You return the values of the function instead of the points.

    The trajectory holds the points x themselves. The values of `f` at these points are a loss curve, which is something
    else.
    """
    points = [x]
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return [f(point) for point in points]


@mistake(replaces="step", dimension="numerics")
def never_moves(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """Your point never changes.

    Every point of your trajectory is x0. Either you clear the gradient before you use it, or you update a copy of the
    point.
    """
    return x


@mistake(replaces="walk", dimension="shapes")
def one_step_too_many(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You take one step too many.

    num_steps counts steps, not points. Check the bounds of your loop.
    """
    points = [x]
    for _ in range(num_steps + 1):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return points


@mistake(replaces="collect", dimension="shapes")
def only_the_end(points: list[Tensor]) -> Tensor:
    """You return only the last point.

    Return the whole trajectory: every point from x0 on, in one tensor.
    """
    return points[-1]


@mistake(replaces="collect", dimension="shapes")
def points_in_a_column(points: list[Tensor]) -> Tensor:
    """Your trajectory has two axes.

    A tensor of shape (n + 1,) has one axis. Check the shape of x itself: it may be (1,).
    """
    return torch.stack(points)[:, None]


@mistake(replaces="collect", dimension="shapes")
def a_list_of_points(points: list[Tensor]) -> list[Tensor]:
    """You return a list instead of a tensor.

    Join the points into one tensor of shape (n + 1,), for example with `torch.stack`.
    """
    return points


@mistake(replaces="collect", dimension="numerics")
def all_points_the_last(points: list[Tensor]) -> Tensor:
    """All points of your trajectory equal the last one.

    You store the same tensor again and again, and later change it in place. Store a copy of its value.
    """
    return points[-1].repeat(len(points))


@mistake(replaces="collect", dimension="numerics")
def backwards(points: list[Tensor]) -> Tensor:
    """Your trajectory is in reverse order.

    The start must come first and the last point last.
    """
    return torch.stack(points).flip(0)


@mistake(replaces="start", dimension="numerics")
def rounded_start(x0: float) -> Tensor:
    """You start at a whole number.

    You round x0 when you turn it into a tensor. Look for `int(…)` or an integer dtype.
    """
    return torch.tensor(float(int(x0)))


@mistake(replaces="start", dimension="numerics")
def begins_at_zero(x0: float) -> Tensor:
    """You start at zero for any x0.

    Check how you create your first point.
    """
    return torch.zeros(())


@mistake(replaces="walk", dimension="numerics")
def stops_where_it_is_flat(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You stop when the slope is small.

    With a large learning rate, a small slope can still give a large step. Take all `num_steps` steps.
    """
    points = [x]
    for _ in range(num_steps):
        gradient = _slope(f, points[-1])
        points.append(points[-1] if abs(gradient) < 1e-6 else points[-1] - learning_rate * gradient)
    return points


@mistake(replaces="step", dimension="numerics")
def slope_held_within_one(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You clamp the slope between -1 and 1.

    Gradient clipping keeps training stable, but it is a different method. Here a steep slope must give a long step.
    """
    return x - learning_rate * gradient.clamp(-1.0, 1.0)


@mistake(replaces="step", dimension="numerics")
def points_held_within_ten(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You clamp the points between -10 and 10.

    The statement sets no bounds for the points. Look for a `clamp`.
    """
    return (x - learning_rate * gradient).clamp(-10.0, 10.0)


@mistake(replaces="walk", dimension="numerics")
def adam(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You use Adam instead of plain gradient descent.

    Adam divides by the size of past slopes, so its first step is as long as the learning rate. Plain gradient descent
    is `SGD` without momentum, or one line of your own.
    """
    point, points = x.clone().requires_grad_(), [x]
    optimiser = torch.optim.Adam([point], lr=learning_rate)
    for _ in range(num_steps):
        optimiser.zero_grad()
        f(point).backward()  # type: ignore[no-untyped-call]  # torch's own
        optimiser.step()
        points.append(point.detach().clone())
    return points


@mistake(replaces="collect", dimension="numerics")
def rounded_points(points: list[Tensor]) -> Tensor:
    """You round your points.

    They agree with the expected ones to four decimals only. Round only what you print.
    """
    return torch.stack(points).round(decimals=4)


@mistake(replaces="walk", dimension="shapes")
def one_step_too_few(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You take one step too few.

    The start is a point before any step, so n steps lead to n + 1 points. Check the bounds of your loop.
    """
    points = [x]
    for _ in range(num_steps - 1):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return points


@mistake(replaces="walk", dimension="numerics")
def stops_where_steps_are_small(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You stop when a step is small.

    Longer steps can follow a short one: near a maximum they grow. Take all `num_steps` steps.
    """
    points = [x]
    while len(points) <= num_steps:
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
        if abs(points[-1] - points[-2]) < 1e-6:
            points += [points[-1]] * (num_steps + 1 - len(points))
    return points


@mistake(replaces="walk", dimension="numerics")
def weights_decay(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Your points are pulled towards zero.

    An optimiser with `weight_decay` adds a multiple of the point to its slope. Use the slope only.
    """
    points = [x]
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * (_slope(f, points[-1]) + 0.01 * points[-1]))
    return points
