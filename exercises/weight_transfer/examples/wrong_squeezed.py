# verdict: loses shapes
import torch
from torch import nn


def transfer_weights(source, target):
    for name in ("W_query", "W_key", "W_value"):
        weight = getattr(source, name).weight.detach().clone().squeeze()
        setattr(target, name, nn.Parameter(weight.T if weight.dim() == 2 else weight))
