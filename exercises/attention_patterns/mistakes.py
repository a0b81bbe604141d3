"""What students get wrong when they look into a model."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.mistakes import mistake


@mistake(replaces="weights_in", dimension="shapes")
def outputs_for_weights(output: Any) -> Tensor:
    """Your hooks keep the layer's output instead of its attention weights.

    An attention module of this model returns two tensors, and the hook receives both. You keep the first one, the
    output of shape (B, T, width). Which of the two has a row for each query and a column for each key?
    """
    return output[0]  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="shapes")
def averaged_over_heads(output: Any) -> Tensor:
    """Your weights have no head axis.

    One head attends to the previous word, another to the next. Their mean does neither, and one of them is not all.
    Return the weights of every head.
    """
    return output[1].mean(dim=1)  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="shapes")
def first_sentence_only(output: Any) -> Tensor:
    """Your weights have no batch axis.

    The tokens are a batch, and each sentence has its own weights. Return the weights of all sentences: do not pick one,
    and do not average them.
    """
    return output[1][0]  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="numerics")
def weights_turned(output: Any) -> Tensor:
    """Your weights are transposed.

    Rows are queries and add up to one; in your output the columns add up to one. The model returns the weights in the
    right order, so no transpose is needed.
    """
    return output[1].transpose(-2, -1)  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="numerics")
def weights_rounded(output: Any) -> Tensor:
    """You round the weights.

    Two or three digits are enough for a picture, but the caller may compute with the returned weights. Round only what
    you print.
    """
    return output[1].round(decimals=3)  # type: ignore[no-any-return]


@mistake(replaces="attentions", dimension="shapes")
def last_layer_only(model: nn.Module) -> list[nn.Module]:
    """You return the weights of the last layer only.

    The list must have one tensor for each layer of the model. Check whether you overwrite the list in a loop, or
    register only one hook.
    """
    return [model.layers[-1].attention]  # type: ignore[union-attr, index]


@mistake(replaces="attentions", dimension="shapes")
def two_layers_always(model: nn.Module) -> list[nn.Module]:
    """You return the weights of the first two layers only.

    The trained model has two layers; other models have one or four. Use `model.layers` to find out.
    """
    return [layer.attention for layer in list(model.layers)[:2]]  # type: ignore[union-attr, arg-type]


@mistake(replaces="given_back", dimension="numerics")
def last_layer_first(found: list[Tensor]) -> list[Tensor]:
    """Your list starts with the last layer.

    All the weights are there, but in the wrong order. Hooks are called in the order in which the layers run.
    """
    return found[::-1]


@mistake(replaces="given_back", dimension="shapes")
def one_tensor_for_all(found: list[Tensor]) -> Tensor:
    """You return one tensor instead of a list.

    Stacking works here because all layers have the same number of heads. The statement asks for a list with one tensor
    per layer.
    """
    return torch.stack(found)


@mistake(replaces="notebook", dimension="numerics")
def notebook_kept(model: nn.Module) -> list[Tensor]:
    """Your list still contains the weights of the previous call.

    The first call is right, but the second one returns twice as many tensors. A list that is stored on the model,
    outside your function, or as a default value in its signature, is kept between calls.
    """
    return vars(model).setdefault("notes", [])  # type: ignore[no-any-return]


@mistake(replaces="release", dimension="numerics")
def hooks_stay(handles: list[Any]) -> None:
    """You leave your hooks in the model.

    The weights are right. But every later forward pass still calls your hooks, and each new call of your function adds
    more of them. Use the return value of `register_forward_hook` to remove them.
    """


@mistake(replaces="release", dimension="numerics")
def last_hook_removed_only(handles: list[Any]) -> None:
    """You remove only one of your hooks.

    There is one handle for each hook. A variable that you overwrite in a loop holds only the last handle at the end.
    """
    handles[-1].remove()


@mistake(replaces="run", dimension="shapes")
def reads_twice(model: nn.Module, tokens: Tensor) -> None:
    """You run the model twice, and each hook is called twice.

    Your list contains every layer two times. Run the model once while your hooks are registered.
    """
    with torch.no_grad():
        model(tokens)
        model(tokens)


@mistake(replaces="run", dimension="shapes")
def reads_sentence_by_sentence(model: nn.Module, tokens: Tensor) -> None:
    """Your hooks are called once per sentence.

    You run the model on one sentence at a time, so your list has a tensor for every layer and every sentence. Run the
    model once on the whole batch.
    """
    with torch.no_grad():
        for sentence in tokens:
            model(sentence[None])


@mistake(replaces="run", dimension="numerics")
def left_in_eval_mode(model: nn.Module, tokens: Tensor) -> None:
    """You leave the model in evaluation mode.

    Turning off dropout while you read the weights is fine, but later training would then run without dropout. Store the
    mode before you change it, and restore it.
    """
    model.eval()
    with torch.no_grad():
        model(tokens)


@mistake(replaces="run", dimension="gradients")
def gradients_left_behind(model: nn.Module, tokens: Tensor) -> None:
    """You run a backward pass and leave its gradients in the model.

    You need no gradients to read attention weights. The next training step would add its gradients to yours.
    """
    model(tokens).sum().backward()


@mistake(replaces="run", dimension="gradients")
def frozen(model: nn.Module, tokens: Tensor) -> None:
    """You freeze the parameters of the model.

    `requires_grad_(False)` avoids building a graph, but it is permanent: the model can no longer be trained. Use a
    context manager that turns gradients off only within a block.
    """
    model.requires_grad_(False)
    model(tokens)


@mistake(replaces="run", dimension="gradients")
def gradients_off_for_everybody(model: nn.Module, tokens: Tensor) -> None:
    """You turn gradients off and never turn them on again.

    A plain call of `torch.set_grad_enabled(False)` applies to the whole program, not only to your function. Used in a
    `with` statement, it ends with the block.
    """
    torch.set_grad_enabled(False)
    model(tokens)


@mistake(replaces="oriented", dimension="numerics")
def columns_for_rows(weights: Tensor) -> Tensor:
    """You read the weights transposed.

    Rows are queries and columns are keys. With swapped axes, a head that attends to the previous word seems to attend
    to the next.
    """
    return weights.transpose(-2, -1)


@mistake(replaces="candidates", dimension="numerics")
def previous_and_next_exchanged(queries: Tensor) -> dict[str, Tensor]:
    """You swap “previous” and “next”.

    For query i, the previous word is key i - 1. Which of the two diagonals next to the main one is that, the one above
    or the one below?
    """
    firsts = torch.zeros_like(queries)
    return {"previous": queries + 1, "next": queries - 1, "self": queries, "first": firsts}


@mistake(replaces="candidates", dimension="numerics")
def second_for_first(queries: Tensor) -> dict[str, Tensor]:
    """You use the second word instead of the first.

    Indices start at 0: the first word is column 0.
    """
    return {"previous": queries - 1, "next": queries + 1, "self": queries, "first": torch.ones_like(queries)}


@mistake(replaces="candidates", dimension="numerics")
def nothing_looks_at_itself(queries: Tensor) -> dict[str, Tensor]:
    """You never call a head “self”.

    Such a head has its weights on the main diagonal. One of the models of this lab has one.
    """
    return {"previous": queries - 1, "next": queries + 1, "first": torch.zeros_like(queries)}


@mistake(replaces="stands_out", dimension="numerics")
def never_uniform(largest: float) -> bool:
    """You never call a head “uniform”.

    One of the four shares is always the largest, even if all of them are small. Below which share does no pattern stand
    out?
    """
    return True


@mistake(replaces="stands_out", dimension="numerics")
def only_the_very_sure(largest: float) -> bool:
    """Your threshold for naming a head is too high.

    Clear heads get the right name, but you call all noisy ones “uniform”. The statement gives the share from which a
    pattern counts.
    """
    return largest >= 0.9


@mistake(replaces="share", dimension="numerics")
def sum_for_mean(weights: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """You use the sum over all queries instead of the mean.

    A sum grows with the length of the sentence, so even a uniform head exceeds the threshold. Divide by the number of
    queries.
    """
    return weights[:, queries, keys].sum(dim=-1)


@mistake(replaces="share", dimension="numerics")
def all_heads_alike(weights: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """You give every head the same name.

    You average over the heads before you choose the name. Keep the head axis.
    """
    return weights[:, queries, keys].mean().expand(len(weights))


@mistake(replaces="stands_out", dimension="numerics")
def a_quarter_is_enough(largest: float) -> bool:
    """Your threshold for naming a head is too low.

    A head that gives a quarter of its weight to one word gives three quarters to others. The statement gives the share
    from which a pattern counts.
    """
    return largest >= 0.25


@mistake(replaces="candidates", dimension="numerics")
def last_for_first(queries: Tensor) -> dict[str, Tensor]:
    """You use the last word instead of the first.

    The first word is column 0. An index of -1 is the last one.
    """
    last = torch.full_like(queries, -1)
    return {"previous": queries - 1, "next": queries + 1, "self": queries, "first": last}


@mistake(replaces="weights_in", dimension="numerics")
def softmax_once_more(output: Any) -> Tensor:
    """You apply a softmax to attention weights.

    The model returns weights that already add up to one. A second softmax makes them nearly equal.
    """
    return output[1].softmax(dim=-1)  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="shapes")
def averaged_over_sentences(output: Any) -> Tensor:
    """Your weights have a batch of one, whatever the batch.

    Each sentence of the batch has its own weights. The mean over sentences describes none of them, and those of one
    sentence describe no other.
    """
    return output[1].mean(dim=0, keepdim=True)  # type: ignore[no-any-return]


@mistake(replaces="shares", dimension="numerics")
def all_queries_count(weights: Tensor) -> dict[str, Tensor]:
    """You use all queries, including those at both ends.

    At the ends, the four words are not all different: the first word has no previous word, and for query 1 the first
    word is the previous one. The statement says which queries to use.
    """
    places = torch.arange(weights.shape[-1])
    behind, ahead = places[:-1], places[1:]
    return {
        "previous": weights[:, ahead, behind].sum(dim=-1) / len(places),
        "next": weights[:, behind, ahead].sum(dim=-1) / len(places),
        "self": weights[:, places, places].mean(dim=-1),
        "first": weights[:, places, 0].mean(dim=-1),
    }
