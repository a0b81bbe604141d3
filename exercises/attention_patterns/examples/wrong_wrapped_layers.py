# verdict: loses numerics
import torch
from torch import nn


class Watched(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        output, self.weights = self.inner(x)
        return output, self.weights


def extract_attention(model, tokens):
    for layer in model.layers:
        layer.attention = Watched(getattr(layer.attention, "inner", layer.attention))
    with torch.no_grad():
        model(tokens)
    return [layer.attention.weights for layer in model.layers]


def classify_heads(weights):
    size = weights.shape[-1]
    rows = torch.arange(2, size - 1)
    share = {
        "previous": weights[:, rows, rows - 1].mean(-1),
        "next": weights[:, rows, rows + 1].mean(-1),
        "self": weights[:, rows, rows].mean(-1),
        "first": weights[:, rows, 0].mean(-1),
    }
    names = []
    for h in range(len(weights)):
        best = max(share, key=lambda n: share[n][h].item())
        names.append(best if share[best][h] >= 0.5 else "uniform")
    return names
