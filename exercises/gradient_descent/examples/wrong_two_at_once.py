# verdict: loses numerics
# diagnosis: uphill, backwards
import torch

def gradient_descent(f, x0, learning_rate, num_steps):
    path = [x0]
    for _ in range(num_steps):
        x = torch.tensor(path[0], requires_grad=True)
        g, = torch.autograd.grad(f(x), x)
        path.insert(0, float(x + learning_rate * g))
    return torch.tensor(path)
