# verdict: loses numerics
# diagnosis: wrong_way_round
import torch
def transfer_weights(source, target):
    with torch.no_grad():
        for n in ("W_query", "W_key", "W_value"):
            getattr(source, n).weight.copy_(getattr(target, n).T)
