# verdict: loses numerics
# diagnosis: values_of_the_function
import torch

def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(x0, requires_grad=True)
    losses = [f(x).item()]
    for _ in range(num_steps):
        g, = torch.autograd.grad(f(x), x)
        x = (x - learning_rate * g).detach().requires_grad_()
        losses.append(f(x).item())
    return torch.tensor(losses)
