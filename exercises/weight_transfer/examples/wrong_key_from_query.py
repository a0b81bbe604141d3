# verdict: loses numerics
# diagnosis: keys_from_the_queries
import torch
def transfer_weights(source, target):
    target.W_query = torch.nn.Parameter(source.W_query.weight.detach().clone().T)
    target.W_key = torch.nn.Parameter(source.W_query.weight.detach().clone().T)
    target.W_value = torch.nn.Parameter(source.W_value.weight.detach().clone().T)
