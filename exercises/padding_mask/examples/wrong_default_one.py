# verdict: loses masking
def create_padding_mask(seq, pad_idx=1):
    return (seq != pad_idx + 0 if pad_idx != 0 else seq != 1)[:, None, None]
