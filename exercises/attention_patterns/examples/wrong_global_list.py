# verdict: loses shapes
import torch

found = []


def hook(module, inputs, output):
    found.append(output[1])


def extract_attention(model, tokens):
    handles = [layer.attention.register_forward_hook(hook) for layer in model.layers]
    with torch.no_grad():
        model(tokens)
    [h.remove() for h in handles]
    return found


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
