# verdict: loses numerics
# diagnosis: sums_lose_their_axis
def renormalise_causal(weights):
    masked = weights.tril()
    return masked / masked.sum(dim=-1)
