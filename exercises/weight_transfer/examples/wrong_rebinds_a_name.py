# verdict: loses numerics
# diagnosis: nothing_written
def transfer_weights(source, target):
    wq = target.W_query
    wk = target.W_key
    wv = target.W_value
    wq = source.W_query.weight.T
    wk = source.W_key.weight.T
    wv = source.W_value.weight.T
