# verdict: loses numerics
import torch

def gradient_descent(f, x0, learning_rate, num_steps, h=1e-6):
    x = torch.tensor(x0)
    path = [x]
    for _ in range(num_steps):
        x = x - learning_rate * (f(x + h) - f(x - h)) / (2 * h)
        path.append(x)
    return torch.stack(path)
