"""What students get wrong when they look into a model."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from grader.exercise.mistakes import mistake


@mistake(replaces="weights_in", dimension="shapes")
def outputs_for_weights(output: Any) -> Tensor:
    """Your hooks keep what the layer gives on, not its weights.

    An attention module of this model returns two things, and a hook is handed both. Yours keeps the first of them, the
    mixed values (B, T, width). Which of the two has a row for each query and a column for each key?
    """
    return output[0]  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="shapes")
def averaged_over_heads(output: Any) -> Tensor:
    """You average over the heads.

    What comes back has lost the axis that this lab is about: one head looks back, another one ahead, and their mean
    does neither. Give back every head's own weights.
    """
    return output[1].mean(dim=1)  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="shapes")
def first_sentence_only(output: Any) -> Tensor:
    """You keep the weights of the first sentence only.

    The tokens are a batch, and each sentence in it has weights of its own. Pictures need one sentence; that is for
    whoever draws them to choose.
    """
    return output[1][0]  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="numerics")
def weights_turned(output: Any) -> Tensor:
    """Your weights are transposed.

    Rows are queries and add up to one; yours add up to one down the columns. The model hands them over the right way
    round already.
    """
    return output[1].transpose(-2, -1)  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="numerics")
def weights_rounded(output: Any) -> Tensor:
    """You round the weights.

    Two or three digits are enough for a picture, but whoever calls your function may want to reckon with what it
    returns. Round where you print.
    """
    return output[1].round(decimals=3)  # type: ignore[no-any-return]


@mistake(replaces="attentions", dimension="shapes")
def last_layer_only(model: nn.Module) -> list[nn.Module]:
    """You look into the last layer only.

    The list must have one tensor for each layer, and the model says itself how many it has. Is your list overwritten
    in a loop, or do you hang up one hook?
    """
    return [model.layers[-1].attention]  # type: ignore[union-attr, index]


@mistake(replaces="attentions", dimension="shapes")
def two_layers_always(model: nn.Module) -> list[nn.Module]:
    """You look into the first two layers, however many there are.

    The trained model has two. Others have one, or four: `model.layers` knows.
    """
    return [layer.attention for layer in list(model.layers)[:2]]  # type: ignore[union-attr, arg-type]


@mistake(replaces="given_back", dimension="numerics")
def last_layer_first(found: list[Tensor]) -> list[Tensor]:
    """Your list begins with the last layer.

    All the weights are there, in the wrong order. Hooks are called in the order in which the model runs.
    """
    return found[::-1]


@mistake(replaces="given_back", dimension="shapes")
def one_tensor_for_all(found: list[Tensor]) -> Tensor:
    """You return one tensor, not a list.

    Stacking works here because all layers have equally many heads. The contract is a list with one tensor a layer.
    """
    return torch.stack(found)


@mistake(replaces="notebook", dimension="numerics")
def notebook_kept(model: nn.Module) -> list[Tensor]:
    """Your list still holds what you found the last time.

    The first visit to a model is right, the second one returns twice as many tensors. A list that is kept on the
    model, outside of your function, or as a default value in its signature, lives longer than one call.
    """
    return vars(model).setdefault("notes", [])  # type: ignore[no-any-return]


@mistake(replaces="release", dimension="numerics")
def hooks_stay(handles: list[Any]) -> None:
    """You leave your hooks in the model.

    The weights are right. But from now on each pass through the model calls your hooks, fills a list that nobody
    reads, and a second call hangs up more of them. What `register_forward_hook` returns is there to take them off.
    """


@mistake(replaces="release", dimension="numerics")
def last_hook_removed_only(handles: list[Any]) -> None:
    """You take off one of your hooks, and the others stay.

    There is a handle for each hook. If a variable in a loop holds them, it holds the last one at the end.
    """
    handles[-1].remove()


@mistake(replaces="run", dimension="shapes")
def reads_twice(model: nn.Module, tokens: Tensor) -> None:
    """Your model reads the tokens twice, and each hook fires twice.

    Your list holds every layer two times. Call the model once while your hooks hang.
    """
    with torch.no_grad():
        model(tokens)
        model(tokens)


@mistake(replaces="run", dimension="shapes")
def reads_sentence_by_sentence(model: nn.Module, tokens: Tensor) -> None:
    """Your hooks fire once per sentence.

    You give the model one sentence after the other, so your list holds a tensor for every layer and every sentence.
    The model takes the whole batch at once.
    """
    with torch.no_grad():
        for sentence in tokens:
            model(sentence[None])


@mistake(replaces="run", dimension="numerics")
def left_in_eval_mode(model: nn.Module, tokens: Tensor) -> None:
    """You leave the model in eval mode.

    Turning off dropout for a picture is a good thought, but whoever trains this model goes on without dropout now and
    is never told. Remember the mode that you found, and put it back.
    """
    model.eval()
    with torch.no_grad():
        model(tokens)


@mistake(replaces="run", dimension="gradients")
def gradients_left_behind(model: nn.Module, tokens: Tensor) -> None:
    """You send gradients through the model and leave them there.

    To look at weights nothing has to be differentiated. The next training step would add its gradients to yours.
    """
    model(tokens).sum().backward()


@mistake(replaces="run", dimension="gradients")
def frozen(model: nn.Module, tokens: Tensor) -> None:
    """You freeze the model.

    `requires_grad_(False)` saves the graph, and it stays: this model cannot be trained any more. There is a way to do
    without a graph for the length of a block.
    """
    model.requires_grad_(False)
    model(tokens)


@mistake(replaces="run", dimension="gradients")
def gradients_off_for_everybody(model: nn.Module, tokens: Tensor) -> None:
    """You turn gradients off and never on again.

    `torch.set_grad_enabled(False)` as a plain call holds for the whole program, not for your function. As a block,
    with `with`, it ends by itself.
    """
    torch.set_grad_enabled(False)
    model(tokens)


@mistake(replaces="oriented", dimension="numerics")
def columns_for_rows(weights: Tensor) -> Tensor:
    """You read the table of weights the wrong way round.

    Queries are rows and keys are columns. Read across, a head that looks back becomes one that looks ahead.
    """
    return weights.transpose(-2, -1)


@mistake(replaces="candidates", dimension="numerics")
def previous_and_next_exchanged(queries: Tensor) -> dict[str, Tensor]:
    """You call looking back “next”, and looking ahead “previous”.

    For query i the word before is key i - 1. Which of the two diagonals beside the main one is that, above or below?
    """
    firsts = torch.zeros_like(queries)
    return {"previous": queries + 1, "next": queries - 1, "self": queries, "first": firsts}


@mistake(replaces="candidates", dimension="numerics")
def second_for_first(queries: Tensor) -> dict[str, Tensor]:
    """You take the second word for the first.

    Counting begins at 0, here too: the first word is the first column.
    """
    return {"previous": queries - 1, "next": queries + 1, "self": queries, "first": torch.ones_like(queries)}


@mistake(replaces="candidates", dimension="numerics")
def nothing_looks_at_itself(queries: Tensor) -> dict[str, Tensor]:
    """No head of yours is ever called “self”.

    Such heads are there, on the main diagonal. One of the models of this lab has one.
    """
    return {"previous": queries - 1, "next": queries + 1, "first": torch.zeros_like(queries)}


@mistake(replaces="stands_out", dimension="numerics")
def never_uniform(largest: float) -> bool:
    """No head of yours is ever called “uniform”.

    One of four numbers is always the largest, even if all of them are small. Below which share does it stand for
    nothing?
    """
    return True


@mistake(replaces="stands_out", dimension="numerics")
def only_the_very_sure(largest: float) -> bool:
    """You ask too much of a head before you give it a name.

    Clear heads get theirs, noisy ones are all called “uniform”. The statement says from which share on a pattern
    stands out.
    """
    return largest >= 0.9


@mistake(replaces="share", dimension="numerics")
def sum_for_mean(weights: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """You look at the sum over all queries where the mean belongs.

    A sum grows with the length of the sentence, so a head that is uniform passes every bound. Divide by how many
    queries you have added up.
    """
    return weights[:, queries, keys].sum(dim=-1)


@mistake(replaces="share", dimension="numerics")
def all_heads_alike(weights: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """You give every head the name of their mean.

    Averaging over the heads comes before the naming in your code, so all of them get one name. Keep the first axis.
    """
    return weights[:, queries, keys].mean().expand(len(weights))


@mistake(replaces="stands_out", dimension="numerics")
def a_quarter_is_enough(largest: float) -> bool:
    """You give a head a name for a share that is too small.

    Heads that give a quarter of their weight to one word look at other words three times out of four. The statement
    says from which share on a pattern stands out.
    """
    return largest >= 0.25


@mistake(replaces="candidates", dimension="numerics")
def last_for_first(queries: Tensor) -> dict[str, Tensor]:
    """You take the last word for the first.

    The first word is the first column. An index of -1 is the last one.
    """
    last = torch.full_like(queries, -1)
    return {"previous": queries - 1, "next": queries + 1, "self": queries, "first": last}


@mistake(replaces="weights_in", dimension="numerics")
def softmax_once_more(output: Any) -> Tensor:
    """You apply a softmax to what are weights already.

    The model hands over weights that add up to one. A second softmax makes them nearly equal.
    """
    return output[1].softmax(dim=-1)  # type: ignore[no-any-return]


@mistake(replaces="weights_in", dimension="shapes")
def averaged_over_sentences(output: Any) -> Tensor:
    """You average over the sentences.

    Each sentence of the batch has weights of its own, and where a head looks in their mean no single sentence says.
    """
    return output[1].mean(dim=0, keepdim=True)  # type: ignore[no-any-return]


@mistake(replaces="shares", dimension="numerics")
def all_queries_count(weights: Tensor) -> dict[str, Tensor]:
    """You look at all queries, at those at the ends too.

    There the four words are not four different ones: before the first word there is none, and for query 1 the first
    word is the previous one. The statement says which queries count.
    """
    places = torch.arange(weights.shape[-1])
    behind, ahead = places[:-1], places[1:]
    return {
        "previous": weights[:, ahead, behind].sum(dim=-1) / len(places),
        "next": weights[:, behind, ahead].sum(dim=-1) / len(places),
        "self": weights[:, places, places].mean(dim=-1),
        "first": weights[:, places, 0].mean(dim=-1),
    }
