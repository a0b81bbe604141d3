# verdict: loses numerics
# diagnosis: shared_memory
from torch import nn

def transfer_weights(source, target):
    target.W_query = nn.Parameter(source.W_query.weight.T)
    target.W_key = nn.Parameter(source.W_key.weight.T)
    target.W_value = nn.Parameter(source.W_value.weight.T)
