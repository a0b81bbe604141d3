# verdict: loses numerics
import torch
def gradient_descent(f, x0, learning_rate, num_steps):
    x = torch.tensor(float(x0), requires_grad=True)
    opt = torch.optim.SGD([x], lr=learning_rate, weight_decay=0.01)
    out = [x.detach().clone()]
    for _ in range(num_steps):
        opt.zero_grad()
        f(x).backward()
        opt.step()
        out.append(x.detach().clone())
    return torch.stack(out)
