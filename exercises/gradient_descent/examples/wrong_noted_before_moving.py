# verdict: loses shapes
# diagnosis: one_point_for_each_step
import torch


def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(x0, requires_grad=True)
    trajectory = []
    for _ in range(num_steps):
        trajectory.append(x.item())
        (slope,) = torch.autograd.grad(f(x), x)
        x = (x - learning_rate * slope).detach().requires_grad_()
    return torch.tensor(trajectory)
