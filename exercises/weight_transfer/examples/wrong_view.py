# verdict: loses numerics
# diagnosis: reshaped
def transfer_weights(source, target):
    for name in ("W_query", "W_key", "W_value"):
        p = getattr(target, name)
        p.data.copy_(getattr(source, name).weight.data.view(p.shape))
