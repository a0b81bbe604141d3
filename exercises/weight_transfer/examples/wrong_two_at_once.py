# verdict: loses numerics
# diagnosis: queries_and_keys_swapped, reshaped
import torch

@torch.no_grad()
def transfer_weights(source, target):
    pairs = {"W_query": "W_key", "W_key": "W_query", "W_value": "W_value"}
    for name, other in pairs.items():
        p = getattr(target, name)
        p.copy_(getattr(source, other).weight.reshape(p.shape))
