# verdict: loses shapes
def transfer_weights(source, target):
    target.W_query = source.W_query
    target.W_key = source.W_key
    target.W_value = source.W_value
