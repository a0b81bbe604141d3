# verdict: loses numerics
import torch


def extract_attention(model, tokens):
    found = []
    kind = type(model.layers[0].attention)
    forward = getattr(kind, "plain_forward", kind.forward)

    def recording(self, *inputs):
        output = forward(self, *inputs)
        found.append(output[1])
        return output

    kind.plain_forward, kind.forward = forward, recording
    with torch.no_grad():
        model(tokens)
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
