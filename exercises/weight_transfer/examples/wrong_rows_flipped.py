# verdict: loses numerics
import torch
from torch import nn

def transfer_weights(source, target):
    for name in ("W_query", "W_key", "W_value"):
        weight = getattr(source, name).weight
        setattr(target, name, nn.Parameter(weight.detach().clone().rot90()))
