# verdict: loses numerics
# diagnosis: keys_and_values_swapped
import torch

@torch.no_grad()
def transfer_weights(source, target):
    target.W_query.copy_(source.W_query.weight.T)
    target.W_key.copy_(source.W_value.weight.T)
    target.W_value.copy_(source.W_key.weight.T)
