# verdict: loses masking
def create_padding_mask(seq, pad_idx=0):
    return (seq.short() != pad_idx)[:, None, None, :]
