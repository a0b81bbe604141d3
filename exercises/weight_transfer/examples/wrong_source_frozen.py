# verdict: loses gradients
import torch


def transfer_weights(source, target):
    for parameter in source.parameters():
        parameter.requires_grad = False
    for name in ("W_query", "W_key", "W_value"):
        getattr(target, name).data.copy_(getattr(source, name).weight.T)
