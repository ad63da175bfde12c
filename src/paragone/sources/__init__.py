"""Sources: which code a method consists of, file by file, so that an edit of any of it is seen."""

from paragone.sources.closure import code_words, own_code_files
from paragone.sources.finding import one_look
from paragone.sources.words import changed_words

__all__ = ["changed_words", "code_words", "one_look", "own_code_files"]
