# verdict: loses shapes
# diagnosis: index_ignored, whole_numbers
def create_padding_mask(seq, pad_idx=0):
    return (seq != 0).long()[:, None, None, :]
