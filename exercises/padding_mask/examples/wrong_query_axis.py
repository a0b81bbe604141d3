# verdict: loses shapes
# diagnosis: on_the_query_axis
def create_padding_mask(seq, pad_idx=0):
    return (seq != pad_idx).unsqueeze(1).unsqueeze(3)
