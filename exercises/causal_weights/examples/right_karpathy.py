# verdict: full marks
import torch
from torch.nn import functional as F
def causal_attention_weights(wei, head_size):
    T = wei.shape[-1]
    wei = wei * head_size**-0.5
    tril = torch.tril(torch.ones(T, T))
    wei = wei.masked_fill(tril == 0, float('-inf'))
    return F.softmax(wei, dim=-1)
