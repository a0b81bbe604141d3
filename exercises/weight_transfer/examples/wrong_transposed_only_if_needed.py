# verdict: loses numerics
# diagnosis: turned_only_where_it_must
import torch
from torch import nn

def transfer_weights(source, target):
    for name in ("W_query", "W_key", "W_value"):
        weight = getattr(source, name).weight
        old = getattr(target, name)
        w = weight.detach().clone()
        setattr(target, name, nn.Parameter(w if w.shape == old.shape else w.T))
