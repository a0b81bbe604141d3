# verdict: full marks
def transfer_weights(src, dst):
    for a, b in ((src.W_query, dst.W_query), (src.W_key, dst.W_key), (src.W_value, dst.W_value)):
        b.data = a.weight.data.transpose(0, 1).clone()
