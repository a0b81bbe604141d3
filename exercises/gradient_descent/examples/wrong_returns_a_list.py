# verdict: loses shapes
import torch

def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(x0, requires_grad=True)
    path = [x0]
    for _ in range(num_steps):
        g, = torch.autograd.grad(f(x), x)
        x = (x - learning_rate * g).detach().requires_grad_()
        path.append(float(x))
    return path
