# verdict: loses numerics
# diagnosis: momentum
import torch

def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(float(x0), requires_grad=True)
    points = [x.detach().clone()]
    velocity = 0.0
    for step in range(num_steps):
        y = f(x)
        (slope,) = torch.autograd.grad(y, x)
        with torch.no_grad():
            velocity = 0.9 * velocity + slope
            x = x - learning_rate * velocity
        x.requires_grad_()
        points.append(x.detach().clone())
    return torch.stack(points)
