# verdict: loses numerics
# diagnosis: wrong_way_round
def transfer_weights(source, target):
    for name, p in target.named_parameters():
        getattr(source, name).weight.data = p.data.T.clone()
