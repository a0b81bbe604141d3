# verdict: loses gradients
def transfer_weights(source, target):
    for name in ("W_query", "W_key", "W_value"):
        weight = getattr(source, name).weight.detach().T.clone()
        delattr(target, name)
        setattr(target, name, weight)
