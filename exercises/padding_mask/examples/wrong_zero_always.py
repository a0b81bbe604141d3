# verdict: loses masking
# diagnosis: index_ignored
def create_padding_mask(seq, pad_idx=0):
    return (seq != 0)[:, None, None, :]
