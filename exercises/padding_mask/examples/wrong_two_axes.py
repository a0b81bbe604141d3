# verdict: loses shapes
# diagnosis: no_axes_added
def create_padding_mask(seq, pad_idx=0):
    return seq != pad_idx
