# verdict: loses numerics
import torch

@torch.no_grad()
def transfer_weights(source, target):
    for name in ("W_query", "W_key", "W_value"):
        layer = getattr(source, name)
        getattr(target, name).copy_(layer.weight.T)
        layer.weight.zero_()
