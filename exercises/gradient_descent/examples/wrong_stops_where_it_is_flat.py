# verdict: loses numerics
# Stays where it is as soon as the slope is small, however large the learning rate.
import torch


def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(x0)
    points = [x]
    for _ in range(num_steps):
        x = x.detach().requires_grad_(True)
        (slope,) = torch.autograd.grad(f(x), x)
        if slope.abs() >= 1e-3:
            x = x - learning_rate * slope
        points.append(x.detach())
    return torch.stack(points)
