# verdict: loses numerics
import time
import torch
import torch.nn as nn
import matplotlib.pyplot as plt

elu = nn.ELU(alpha=0.5)

def linear_attention(query, key, value, causal=False):
    Q, K, V = elu(query) + 1, elu(key) + 1, value
    if causal:
        numerator, denominator = [], []
        S, z = 0, 0
        for i in range(Q.size(2)):
            S = S + K[:, :, i].unsqueeze(3) @ V[:, :, i].unsqueeze(2)
            z = z + K[:, :, i]
            numerator.append((Q[:, :, i].unsqueeze(2) @ S).squeeze(2))
            denominator.append((Q[:, :, i] * z).sum(-1, keepdim=True))
        return torch.stack(numerator, 2) / torch.stack(denominator, 2)
    S = torch.einsum("bhnd,bhnv->bhdv", K, V)
    return torch.einsum("bhnd,bhdv->bhnv", Q, S) / torch.einsum("bhnd,bhd->bhn", Q, K.sum(2)).unsqueeze(-1)

lengths, times = [16, 32, 64, 128], []
for n in lengths:
    x = torch.randn(1, 2, n, 8)
    start = time.time()
    linear_attention(x, x, x)
    times.append(time.time() - start)
plt.plot(lengths, times, "o-")
plt.xlabel("tokens"); plt.ylabel("seconds")
plt.show()
