# verdict: loses numerics
import torch


def gradient_descent(f, x0, learning_rate, num_steps):
    points = torch.zeros(num_steps + 1)
    points[0] = x0
    for step in range(num_steps):
        x = points[step].clone().requires_grad_(True)
        f(x).backward()
        if x.grad == 0:
            break
        points[step + 1] = x.detach() - learning_rate * x.grad
    return points
