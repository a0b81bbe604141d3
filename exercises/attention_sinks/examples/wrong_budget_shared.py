# verdict: loses masking
# diagnosis: sinks_take_room_in_the_window
import torch


def sink_attention(query, key, value, window, num_sinks):
    T = query.shape[-2]
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    mask = (j <= i) & ((j < num_sinks) | (i - j < window - num_sinks))
    s = query @ key.mT / query.shape[-1] ** 0.5
    return torch.where(mask, s, -torch.inf).softmax(-1) @ value
