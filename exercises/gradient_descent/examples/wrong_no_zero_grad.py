# verdict: loses numerics
# diagnosis: gradients_pile_up
import torch

def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(x0, requires_grad=True)
    path = [x.item()]
    for _ in range(num_steps):
        f(x).backward()
        with torch.no_grad():
            x -= learning_rate * x.grad
        path.append(x.item())
    return torch.tensor(path)
