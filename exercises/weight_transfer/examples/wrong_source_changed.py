# verdict: loses shapes
# diagnosis: source_turned_as_well
import torch
def transfer_weights(source, target):
    with torch.no_grad():
        for n in ("W_query", "W_key", "W_value"):
            w = getattr(source, n).weight
            w.data = w.data.T
            getattr(target, n).copy_(w)
