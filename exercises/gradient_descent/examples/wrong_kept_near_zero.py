# verdict: loses numerics
# Keeps every point between -10 and 10.
import torch


def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(x0)
    points = [x]
    for _ in range(num_steps):
        x = x.detach().requires_grad_(True)
        (slope,) = torch.autograd.grad(f(x), x)
        x = (x - learning_rate * slope).clamp(-10.0, 10.0)
        points.append(x.detach())
    return torch.stack(points)
