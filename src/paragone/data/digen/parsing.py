"""Read a formula's text into prefix tokens, with errors that name the position."""

from __future__ import annotations

import math
import re

from paragone.data.digen.expression import OPERATORS, Feature, Token
from paragone.errors import InputError, unknown_name

LEXEME = re.compile(
    r"\s*(?:(?P<feature>X\d+\b)|(?P<operator>[A-Za-z_]\w*)"
    r"|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<mark>[(),]))"
)


def read_tokens(text: str) -> tuple[Token, ...]:
    """Return the prefix tokens of a formula.

    Examples
    --------
    >>> read_tokens("add(X0, 1)")
    ('add', Feature(index=0), 1.0)
    >>> read_tokens("add(X0 1)")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: formula 'add(X0 1)': ',' expected at position 8, found '1'
    """
    reader = _Reader(text)
    tokens = reader.read_all()
    kind, found = reader.peek()
    if kind != "end":
        raise reader.wrong(f"the formula is complete, but there is {found!r} at position {reader.position}")
    return tuple(tokens)


class _Reader:
    """Walks through the text; a stack of open operators instead of recursion, so depth is no limit."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = 0

    @property
    def position(self) -> int:
        """The position of the next sign, counted from 1."""
        return len(self.text) - len(self.text[self._at :].lstrip()) + 1

    def wrong(self, sentence: str) -> InputError:
        shown = self.text if len(self.text) <= 80 else f"{self.text[:77]}..."
        return InputError(f"formula {shown!r}: {sentence}")

    def peek(self) -> tuple[str, str]:
        if not self.text[self._at :].strip():
            return "end", "the end"
        match = LEXEME.match(self.text, self._at)
        if match is None:
            raise self.wrong(f"nothing begins with {self.text[self.position - 1]!r}, at position {self.position}")
        return str(match.lastgroup), match[str(match.lastgroup)]

    def step(self) -> None:
        match = LEXEME.match(self.text, self._at)
        if match is not None:
            self._at = match.end()

    def expect(self, mark: str) -> None:
        _, found = self.peek()
        if found != mark:
            shown = found if found == "the end" else repr(found)
            raise self.wrong(f"{mark!r} expected at position {self.position}, found {shown}")
        self.step()

    def read_all(self) -> list[Token]:
        tokens: list[Token] = []
        operands_left: list[int] = []
        while True:
            token = self._token()
            tokens.append(token)
            if isinstance(token, str):
                self.expect("(")
                operands_left.append(2)
                continue
            while operands_left and operands_left[-1] == 1:
                self.expect(")")
                operands_left.pop()
            if not operands_left:
                return tokens
            operands_left[-1] -= 1
            self.expect(",")

    def _token(self) -> Token:
        kind, found = self.peek()
        if kind == "feature":
            token: Token = Feature(int(found[1:]))
        elif kind == "number":
            token = float(found)
            if not math.isfinite(token):
                raise self.wrong(f"the constant {found} at position {self.position} is not finite")
        elif kind == "operator":
            if found not in OPERATORS:
                hint = unknown_name("operator", found, OPERATORS)
                raise self.wrong(f"{hint} (at position {self.position})")
            token = found
        else:
            shown = found if kind == "end" else repr(found)
            raise self.wrong(f"an operator, a feature or a number expected at position {self.position}, found {shown}")
        self.step()
        return token
