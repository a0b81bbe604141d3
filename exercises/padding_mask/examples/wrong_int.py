# verdict: loses shapes
def create_padding_mask(seq, pad_idx=0):
    return (seq != pad_idx)[:, None, None].int()
