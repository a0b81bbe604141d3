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
    """You walk uphill.

    The slope points to where the function grows. Downhill is the other way: look at the sign of your step.
    """
    return x + learning_rate * gradient


@mistake(replaces="step", dimension="numerics")
def learning_rate_ignored(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """Your steps do not depend on the learning rate.

    You take the whole slope off, whatever the rate. It says how large a share of the slope makes a step.
    """
    return x - gradient


@mistake(replaces="step", dimension="numerics")
def divided_by_the_rate(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You divide the slope by the learning rate.

    A small rate has to make small steps, and yours become large.
    """
    return x - gradient / learning_rate


@mistake(replaces="step", dimension="numerics")
def sign_only(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """Your steps all have the same length.

    Only the sign of the slope counts in yours, or the slope is divided by its own size. Where the curve is steep, the
    step has to be longer.
    """
    return x - learning_rate * gradient.sign()


@mistake(replaces="step", dimension="numerics")
def replaced_by_the_step(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You put the step in the place of the point.

    The next point is where you are, moved by the step. Yours forgets where it was.
    """
    return -learning_rate * gradient


@mistake(replaces="slope", dimension="numerics")
def value_for_slope(f: Function, x: Tensor) -> Tensor:
    """You step by the function's value, not by its slope.

    f(x) says how high you are, not in which direction it goes down. What autograd gives is the derivative of f at x.
    """
    return f(x)


@mistake(replaces="slope", dimension="numerics")
def forward_difference(f: Function, x: Tensor) -> Tensor:
    """You estimate the slope from two nearby values.

    A quotient of differences is close on smooth curves and wrong on wiggly ones, and its rounding is poor. Autograd
    gives the slope itself.
    """
    return (f(x + 1e-4) - f(x)) / 1e-4


@mistake(replaces="slope", dimension="numerics")
def central_difference(f: Function, x: Tensor) -> Tensor:
    """You estimate the slope from a value on either side.

    That is closer than one side alone, and still wrong where the curve wiggles within the distance. Autograd gives the
    slope itself.
    """
    return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5


@mistake(replaces="walk", dimension="numerics")
def gradients_pile_up(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Your gradients pile up from step to step.

    `backward()` adds to the gradient that is there already. Each step must see the slope of its own point alone.
    """
    points, piled = [x], torch.zeros(())
    for _ in range(num_steps):
        piled = piled + _slope(f, points[-1])
        points.append(points[-1] - learning_rate * piled)
    return points


@mistake(replaces="walk", dimension="numerics")
def slope_of_the_start(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You use the slope of the start for every step.

    The slope changes as you walk, so it has to be found afresh at each point. Look at what stands before your loop.
    """
    points, gradient = [x], _slope(f, x)
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * gradient)
    return points


@mistake(replaces="walk", dimension="numerics")
def always_from_the_start(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Every step of yours begins at the start.

    The point before is where a step begins. Look at which variable your update reads, and whether it is ever changed.
    """
    return [x, *(x - learning_rate * _slope(f, x) for _ in range(num_steps))]


@mistake(replaces="walk", dimension="numerics")
def shrinking_rate(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Your steps shrink with time.

    The learning rate stays what it is: here nothing is divided by the number of the step.
    """
    points = [x]
    for number in range(num_steps):
        points.append(points[-1] - learning_rate / (number + 1) * _slope(f, points[-1]))
    return points


@mistake(replaces="walk", dimension="numerics")
def momentum(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Your steps remember the ones before.

    A part of the last step goes into the next, as with momentum 0.9. Plain gradient descent knows the slope of this
    point only.
    """
    points, speed = [x], torch.zeros(())
    for _ in range(num_steps):
        speed = 0.9 * speed + _slope(f, points[-1])
        points.append(points[-1] - learning_rate * speed)
    return points


@mistake(replaces="walk", dimension="shapes")
def a_point_missing(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """A point is missing from your trajectory.

    After n steps there are n + 1 points: the start, and one for where each step led. Look at whether you note a point
    before or after you move, and what happens before the first step and after the last.
    """
    points = [x]
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return points[1:]


@mistake(replaces="gradient_descent", dimension="shapes")
def one_point_for_each_step(f: Function, x0: float, learning_rate: float, num_steps: int) -> Tensor:
    """Your trajectory has as many points as there are steps, so one is missing.

    n steps lead through n + 1 points. Who notes a point before each step leaves out where the last one led; who
    notes it after each step leaves out x0.
    """
    points = [torch.tensor(x0)]
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return torch.stack(points)[:-1]


@mistake(replaces="walk", dimension="numerics")
def values_of_the_function(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You return how high the function is, not where you are.

    A trajectory holds the points themselves. What `f` gives at each of them is a curve of the loss: useful, but another
    thing.
    """
    points = [x]
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return [f(point) for point in points]


@mistake(replaces="step", dimension="numerics")
def never_moves(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You stay where you are.

    Every point of your trajectory is x0. Either the gradient is zero when you take the step, because it was cleared too
    early, or the step is taken by a copy.
    """
    return x


@mistake(replaces="walk", dimension="shapes")
def one_step_too_many(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You take one step too many.

    num_steps counts steps, not points. Look at the bounds of your loop.
    """
    points = [x]
    for _ in range(num_steps + 1):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return points


@mistake(replaces="collect", dimension="shapes")
def only_the_end(points: list[Tensor]) -> Tensor:
    """You return the last point only.

    The whole way is asked for: every point from x0 on, in one tensor.
    """
    return points[-1]


@mistake(replaces="collect", dimension="shapes")
def points_in_a_column(points: list[Tensor]) -> Tensor:
    """Your points stand in a column.

    A tensor of shape (n + 1,) has one axis; yours has two. Look at the shape of x itself: it may be (1,).
    """
    return torch.stack(points)[:, None]


@mistake(replaces="collect", dimension="shapes")
def a_list_of_points(points: list[Tensor]) -> list[Tensor]:
    """You return a list, where a tensor is asked for.

    Put the points together into one tensor of shape (n + 1,).
    """
    return points


@mistake(replaces="collect", dimension="numerics")
def all_points_the_last(points: list[Tensor]) -> Tensor:
    """All points of your trajectory are the last one.

    You noted the same tensor again and again, and it was changed in place afterwards. Note a copy of its number.
    """
    return points[-1].repeat(len(points))


@mistake(replaces="collect", dimension="numerics")
def backwards(points: list[Tensor]) -> Tensor:
    """Your trajectory runs backwards.

    The start comes first, the end last.
    """
    return torch.stack(points).flip(0)


@mistake(replaces="start", dimension="numerics")
def rounded_start(x0: float) -> Tensor:
    """You begin at a whole number.

    x0 is rounded on its way into a tensor. Look for `int(…)` or an integer dtype.
    """
    return torch.tensor(float(int(x0)))


@mistake(replaces="start", dimension="numerics")
def begins_at_zero(x0: float) -> Tensor:
    """You begin at zero, wherever x0 is.

    Look at what your first point is made from.
    """
    return torch.zeros(())


@mistake(replaces="walk", dimension="numerics")
def stops_where_it_is_flat(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You stop where the slope is small.

    A small slope is a slope, and a large learning rate makes a step of it. Take all steps that are asked for.
    """
    points = [x]
    for _ in range(num_steps):
        gradient = _slope(f, points[-1])
        points.append(points[-1] if abs(gradient) < 1e-6 else points[-1] - learning_rate * gradient)
    return points


@mistake(replaces="step", dimension="numerics")
def slope_held_within_one(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You hold the slope between -1 and 1.

    Clipping gradients keeps a training from running away, and is another method. Here a steep slope makes a long step.
    """
    return x - learning_rate * gradient.clamp(-1.0, 1.0)


@mistake(replaces="step", dimension="numerics")
def points_held_within_ten(x: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """You hold the points between -10 and 10.

    The curve has no ends, and nothing was said of any. Look for a `clamp`.
    """
    return (x - learning_rate * gradient).clamp(-10.0, 10.0)


@mistake(replaces="walk", dimension="numerics")
def adam(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """Your steps are those of Adam.

    It divides by the size of past slopes, so its first step is as long as the learning rate. Plain gradient descent is
    `SGD` without momentum, or one line of your own.
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

    They agree with the right ones to four decimals and no further. Round only what you print.
    """
    return torch.stack(points).round(decimals=4)


@mistake(replaces="walk", dimension="shapes")
def one_step_too_few(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You take one step too few.

    The start is a point before any step, so n steps lead to n + 1 points. Look at the bounds of your loop.
    """
    points = [x]
    for _ in range(num_steps - 1):
        points.append(points[-1] - learning_rate * _slope(f, points[-1]))
    return points


@mistake(replaces="walk", dimension="numerics")
def stops_where_steps_are_small(f: Function, x: Tensor, learning_rate: float, num_steps: int) -> list[Tensor]:
    """You stop where a step is small.

    A short step may be the first of longer ones: beside a ridge they grow. Take all steps that are asked for.
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

    An optimiser with `weight_decay` adds a share of the point to its slope. Only the slope counts here.
    """
    points = [x]
    for _ in range(num_steps):
        points.append(points[-1] - learning_rate * (_slope(f, points[-1]) + 0.01 * points[-1]))
    return points
