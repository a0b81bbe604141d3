# verdict: loses masking
def renormalise_causal(weights):
    kept = weights.transpose(-2, -1).tril()
    return (kept / kept.sum(dim=-1, keepdim=True)).transpose(-2, -1)
