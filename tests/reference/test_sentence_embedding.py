"""The reference of the sentence embedding."""

import pytest
import torch
from torch.nn import functional as F

from reference.sentence_embedding import SentenceEmbedding

LIFE = "Life is short, eat dessert first"


def test_the_published_table_comes_out(table):
    """Under the published seed, the published sentence has the published ids and rows."""
    published = table("sentence-embedding")
    torch.manual_seed(published.settings["manual_seed"])
    module = SentenceEmbedding(50_000, 3)

    assert module.read(LIFE) == published.settings["token_ids"]
    assert published.agrees_with(module(LIFE))


@pytest.mark.parametrize(
    ("sentence", "ids"),
    [
        ("Attention", [0]),
        ("b c a", [1, 2, 0]),
        ("b, c, a", [1, 2, 0]),
        (",b  c\t\n a , ", [1, 2, 0]),
        ("1,000 mice", [0, 1]),
        ("9 100 10", [2, 1, 0]),
        ("zoo Ant ant Zoo", [3, 0, 2, 1]),
        ("école zoo Éclair", [2, 0, 1]),
        ("can't cane can", [1, 2, 0]),
        ("the end-all, no end.", [3, 0, 2, 1]),
    ],
)
def test_ids_are_ranks_among_the_sorted_words(sentence, ids):
    """Commas go, everything else stays; the ids are written down by hand."""
    assert SentenceEmbedding(9, 2).read(sentence) == ids


def test_rows_are_those_of_a_product_with_one_hot_vectors():
    """Rows and gradient agree with a product of matrices; rows that were not used have a gradient of zero."""
    module = SentenceEmbedding(9, 4).double()
    ids = torch.tensor([0, 4, 5, 2, 1, 3])
    other = module.embedding.weight.detach().clone().requires_grad_()
    upstream = torch.randn(6, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

    embedded = module(LIFE)
    expected = F.one_hot(ids, num_classes=9).double() @ other
    embedded.backward(upstream)
    expected.backward(upstream)

    assert torch.equal(embedded, expected)
    assert torch.equal(module.embedding.weight.grad, other.grad)
    assert not module.embedding.weight.grad[6:].any()


def test_the_statements_example_is_true():
    """The table of the statement, whose row r begins with r.1, gives the rows that are printed there."""
    module = SentenceEmbedding(6, 2)
    rows = torch.arange(6.0)[:, None] + torch.tensor([0.1, 0.2])
    module.embedding.weight.data.copy_(rows)

    assert torch.equal(module(LIFE), rows[[0, 4, 5, 2, 1, 3]])
