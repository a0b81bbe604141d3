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
    """Call a head by where its last query looks most."""
    size = weights.shape[-1]
    names = []
    for head in weights:
        place = int(head[size - 2].argmax())
        names.append({size - 3: "previous", size - 1: "next", size - 2: "self", 0: "first"}.get(place, "uniform"))
    return names
