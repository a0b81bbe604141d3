# verdict: loses numerics
import torch

def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(float(x0), requires_grad=True)
    points = [x.detach().clone()]
    for step in range(num_steps):
        y = f(x)
        (slope,) = torch.autograd.grad(y, x)
        with torch.no_grad():
            x = x - learning_rate * slope / (abs(slope) + 1e-12)
        x.requires_grad_()
        points.append(x.detach().clone())
    return torch.stack(points)
