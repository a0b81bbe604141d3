# verdict: loses numerics
import torch

def transfer_weights(source, target):
    with torch.no_grad():
        target.W_query.copy_(source.W_query.weight.T)
        target.W_key.copy_(source.W_key.weight.T)
    target.W_value.data = source.W_value.weight.data.T
