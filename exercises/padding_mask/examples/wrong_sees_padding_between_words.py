# verdict: loses masking
def create_padding_mask(seq, pad_idx=0):
    words = (seq != pad_idx).long()
    begun = words.cumsum(dim=1) > 0
    not_over = words.flip(1).cumsum(dim=1).flip(1) > 0
    return (begun & not_over)[:, None, None, :]
