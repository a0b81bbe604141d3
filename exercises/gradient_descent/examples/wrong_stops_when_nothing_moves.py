# verdict: loses numerics
import torch


def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(float(x0), requires_grad=True)
    points = [x.item()]
    for _ in range(num_steps):
        (slope,) = torch.autograd.grad(f(x), x)
        x = (x - learning_rate * slope).detach().requires_grad_(True)
        if x.item() == points[-1] and len(points) > 1:
            break
        points.append(x.item())
    return torch.tensor(points)
