# verdict: loses gradients
# diagnosis: frozen
from torch import nn

def transfer_weights(source, target):
    for name in ("W_query", "W_key", "W_value"):
        weight = getattr(source, name).weight.detach().T.clone()
        setattr(target, name, nn.Parameter(weight, requires_grad=False))
