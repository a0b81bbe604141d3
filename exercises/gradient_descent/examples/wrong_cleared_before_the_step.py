# verdict: loses numerics
# diagnosis: never_moves
import torch
from torch import nn


def gradient_descent(f, x0, learning_rate, num_steps):
    x = nn.Parameter(torch.tensor(x0))
    optimiser = torch.optim.SGD([x], lr=learning_rate)
    trajectory = [x.item()]
    for _ in range(num_steps):
        f(x).backward()
        optimiser.zero_grad()
        optimiser.step()
        trajectory.append(x.item())
    return torch.tensor(trajectory)
