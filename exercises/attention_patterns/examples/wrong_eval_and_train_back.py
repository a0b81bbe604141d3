# verdict: loses numerics
import torch

def extract_attention(model, tokens):
    activations = {}

    def get_activation(name):
        def hook(model, input, output):
            activations[name] = output[1].detach()
        return hook

    handles = []
    for i, layer in enumerate(model.layers):
        handles.append(layer.attention.register_forward_hook(get_activation(i)))
    model.eval()
    with torch.no_grad():
        model(tokens)
    model.train()
    for handle in handles:
        handle.remove()
    return [activations[i] for i in range(len(model.layers))]

def classify_heads(weights):
    h, T, _ = weights.shape
    names = []
    for head in weights:
        scores = {"previous": 0.0, "next": 0.0, "self": 0.0, "first": 0.0}
        for i in range(2, T - 1):
            scores["previous"] += head[i, i - 1].item()
            scores["next"] += head[i, i + 1].item()
            scores["self"] += head[i, i].item()
            scores["first"] += head[i, 0].item()
        scores = {name: total / (T - 3) for name, total in scores.items()}
        best = max(scores, key=scores.get)
        names.append(best if scores[best] >= 0.5 else "uniform")
    return names
