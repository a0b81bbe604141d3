# verdict: loses masking
# diagnosis: anything_above
def create_padding_mask(seq, pad_idx=0):
    return (seq > pad_idx)[:, None, None]
