# verdict: loses shapes
def transfer_weights(source, target):
    target.W_query = source.W_query.weight.T.clone()
    target.W_key = source.W_key.weight.T.clone()
    target.W_value = source.W_value.weight.T.clone()
