# verdict: loses numerics
# diagnosis: values_forgotten
import torch

@torch.no_grad()
def transfer_weights(source, target):
    target.W_query[:] = source.W_query.weight.T
    target.W_key[:] = source.W_key.weight.T
