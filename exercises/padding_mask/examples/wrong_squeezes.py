# verdict: loses shapes
def create_padding_mask(seq, pad_idx=0):
    mask = (seq != pad_idx).squeeze(0)
    return mask[..., None, None, :] if mask.dim() == 2 else mask[None, None]
