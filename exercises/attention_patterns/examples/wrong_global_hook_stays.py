# verdict: loses numerics
import torch
from torch.nn.modules.module import register_module_forward_hook


def extract_attention(model, tokens):
    found = {}
    watched = {layer.attention: number for number, layer in enumerate(model.layers)}

    def hook(module, inputs, output):
        if module in watched:
            found[watched[module]] = output[1]

    register_module_forward_hook(hook)
    with torch.no_grad():
        model(tokens)
    return [found[number] for number in range(len(model.layers))]


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
