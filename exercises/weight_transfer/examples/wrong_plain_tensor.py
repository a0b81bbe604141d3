# verdict: loses shapes
import torch
def transfer_weights(source, target):
    for n in ("W_query", "W_key", "W_value"):
        delattr(target, n)
        setattr(target, n, getattr(source, n).weight.detach().clone().T)
