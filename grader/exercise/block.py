"""A block of TOML in a statement, as its model has it."""

from __future__ import annotations

import tomllib
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from grader.errors import AuthorError

Model = TypeVar("Model", bound=BaseModel)


def read_block(kind: type[Model], text: str, *, what: str, depth: int = 1) -> Model:
    """Return what a block says.

    Args:
        kind: its model.
        text: the block.
        what: the word for it in a message, as `chart`.
        depth: how many names say where something is wrong.

    Raises:
        AuthorError: it is no TOML, or its values do not fit together.
    """
    try:
        return kind.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise AuthorError(f"a {what} of the statement is no TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][:depth]) or "its numbers"
        raise AuthorError(f"a {what} of the statement is wrong, in `{where}`: {first['msg']}") from error
