# verdict: loses numerics
# diagnosis: queries_and_keys_swapped
import torch
def transfer_weights(source, target):
    with torch.no_grad():
        for p, q in zip(sorted(n for n, _ in target.named_parameters()), [n for n, _ in source.named_children()]):
            getattr(target, p).copy_(getattr(source, q).weight.T)
