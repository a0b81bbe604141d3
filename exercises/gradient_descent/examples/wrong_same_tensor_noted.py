# verdict: loses numerics
# diagnosis: all_points_the_last
import torch

def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(x0, requires_grad=True)
    path = [x.data]
    for _ in range(num_steps):
        f(x).backward()
        x.data -= learning_rate * x.grad
        x.grad.zero_()
        path.append(x.data)
    return torch.stack(path)
