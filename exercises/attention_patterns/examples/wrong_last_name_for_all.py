# verdict: loses numerics
import torch
from collections import OrderedDict

def extract_attention(model, tokens):
    store = OrderedDict()
    handles = []
    for name, module in model.named_modules():
        if name.startswith("layers.") and name.endswith(".attention") and name.count(".") == 2:
            handles.append(module.register_forward_hook(lambda mod, inp, out: store.update({name: out[1]})))
    try:
        with torch.no_grad():
            _ = model(tokens)
    finally:
        for h in handles:
            h.remove()
    ordered = sorted(store, key=lambda n: int(n.split(".")[1]))
    return [store[n] for n in ordered]

def classify_heads(weights):
    T = weights.size(-1)
    idx = torch.arange(2, T - 1)
    res = []
    for A in weights:
        shares = [A[idx, idx - 1].mean(), A[idx, idx + 1].mean(), A[idx, idx].mean(), A[idx, 0].mean()]
        best = int(torch.argmax(torch.stack(shares)))
        res.append(["previous", "next", "self", "first"][best] if shares[best] >= 0.5 else "uniform")
    return res
