# verdict: loses numerics
# diagnosis: rounded
def transfer_weights(source, target):
    for name in ("W_query", "W_key", "W_value"):
        values = getattr(source, name).weight.detach().half()
        getattr(target, name).data.copy_(values.T)
