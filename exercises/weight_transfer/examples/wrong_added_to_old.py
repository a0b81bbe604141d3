# verdict: loses numerics
# diagnosis: added_up
import torch
def transfer_weights(source, target):
    with torch.no_grad():
        for n in ("W_query", "W_key", "W_value"):
            getattr(target, n).add_(getattr(source, n).weight.T)
