# verdict: loses numerics
import torch


def extract_attention(model, tokens):
    found = []
    handles = [layer.attention.register_forward_hook(lambda m, i, o: found.append(o[1])) for layer in model.layers]
    with torch.no_grad():
        model(tokens)
    for handle in handles:
        handle.remove()
    return found


def classify_heads(weights):
    rows = torch.arange(2, weights.shape[-1] - 1)
    columns = {"previous": rows - 1, "next": rows + 1, "self": rows, "first": rows * 0}
    share = {name: weights[:, rows, column].quantile(0.5, dim=-1) for name, column in columns.items()}
    names = []
    for h in range(len(weights)):
        best = max(share, key=lambda n: share[n][h].item())
        names.append(best if share[best][h] >= 0.5 else "uniform")
    return names
