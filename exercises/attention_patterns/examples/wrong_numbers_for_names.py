# verdict: loses shapes
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
    size = weights.shape[-1]
    rows = torch.arange(2, size - 1)
    looks = (rows - 1, rows + 1, rows, 0 * rows)
    shares = torch.stack([weights[:, rows, look].mean(-1) for look in looks])
    return torch.where(shares.amax(0) >= 0.5, shares.argmax(0), 4).tolist()
