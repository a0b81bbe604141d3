# verdict: loses shapes
import torch

def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(x0, requires_grad=True)
    path = torch.zeros(num_steps)
    for i in range(num_steps):
        path[i] = x.detach()
        g, = torch.autograd.grad(f(x), x)
        x = (x - learning_rate * g).detach().requires_grad_()
    return path
