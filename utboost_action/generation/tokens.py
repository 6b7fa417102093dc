"""What a prompt may weigh: a bound from bytes, and the choice of the fullest version that fits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_ASCII_BYTES_PER_TOKEN = 2.5
_MESSAGE_OVERHEAD = 8  # tokens that a chat format adds to a message


class PromptTooLargeError(ValueError):
    """Even the smallest version of a prompt is over its budget."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A version of a text that fits. step: how many fuller versions did not (0: nothing was left out)."""

    text: str
    step: int
    bound: int


def token_bound(*texts: str) -> int:
    """Tokens that these texts take at most, from their bytes: a pure function, so that prompts repeat.

    A token for 2.5 ASCII bytes and one for each byte beyond ASCII. No proof (only a token a byte would
    be one), but more than o200k_base counts on every prompt measured (docs/generation.md). A tokenizer's
    vocabulary would have to be downloaded, and differs by endpoint.
    """
    total = 0
    for text in texts:
        size = len(text.encode("utf-8", "surrogatepass"))
        ascii_size = sum(map(str.isascii, text))
        total += math.ceil(ascii_size / _ASCII_BYTES_PER_TOKEN) + (size - ascii_size) + _MESSAGE_OVERHEAD
    return total


def tokens_at_most(*texts: str) -> int:
    """Tokens for a budget where an endpoint tells none: a token for 2.5 letters or for any other byte.

    Digits, operators and hex take up to twice what `token_bound` says (a matrix of digits, base64), and a
    budget must not be fooled by them. It decides nothing about what a prompt holds.
    """
    total = 0
    for text in texts:
        size = len(text.encode("utf-8", "surrogatepass"))
        words = sum(char.isascii() and (char.isalpha() or char.isspace()) for char in text)
        total += math.ceil(words / _ASCII_BYTES_PER_TOKEN) + (size - words) + _MESSAGE_OVERHEAD
    return total


def first_fitting(versions: Iterable[str], budget: int) -> Fitted:
    """The first of `versions` (fullest first) whose bound is within `budget` tokens; none is ever cut.

    Raises PromptTooLargeError with the size of the last one.
    """
    bound = 0
    for step, text in enumerate(versions):
        bound = token_bound(text)
        if bound <= budget:
            return Fitted(text, step, bound)
    raise PromptTooLargeError(f"the smallest version takes up to {bound} tokens, {budget} are allowed")
