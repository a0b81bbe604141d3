# verdict: loses shapes
# diagnosis: not_turned
from torch import nn

def transfer_weights(source, target):
    target.W_query = nn.Parameter(source.W_query.weight.detach().clone())
    target.W_key = nn.Parameter(source.W_key.weight.detach().clone())
    target.W_value = nn.Parameter(source.W_value.weight.detach().clone())
