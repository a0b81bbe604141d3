# verdict: full marks
import torch
import torch.nn as nn
class Dropout(nn.Module):
    def __init__(self, p: float = 0.5):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError("dropout probability has to be between 0 and 1")
        self.p = p
    def forward(self, x):
        if self.training:
            if self.p == 1:
                return torch.mul(x, 0)
            binomial = torch.distributions.binomial.Binomial(probs=torch.tensor(1 - self.p))
            return x * binomial.sample(x.size()).to(x.dtype) * (1.0 / (1 - self.p))
        return x
def attention_dropout(weights, p, training=True):
    layer = Dropout(p)
    layer.train(training)
    return layer(weights)
