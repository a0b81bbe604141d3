# verdict: loses numerics
# diagnosis: uphill
import torch

def gradient_descent(f, x0, learning_rate, num_steps):
    xs = [torch.tensor(x0)]
    for _ in range(num_steps):
        x = xs[-1].clone().requires_grad_()
        f(x).backward()
        xs.append(xs[-1] + learning_rate * x.grad)
    return torch.stack(xs)
