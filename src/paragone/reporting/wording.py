"""Words that tables, charts and pages share: names of metrics, and what the user wants them to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TITLES = {
    "micro_f1": "Micro-F1",
    "macro_f1": "Macro-F1",
    "hamming_loss": "Hamming loss",
    "micro_pr_auc": "Micro PR-AUC",
    "macro_pr_auc": "Macro PR-AUC",
    "avg_precision": "Average precision",
    "one_error": "One-error",
    "ranking_loss": "Ranking loss",
    "coverage": "Coverage",
    "subset_accuracy": "Subset accuracy",
}


@dataclass(frozen=True)
class Wording:
    """What the user wants tables to say: names to display, a note for captions, a suffix for labels."""

    names: Mapping[str, str] = field(default_factory=dict)
    caption_note: str = ""
    label_suffix: str = ""

    def name(self, identifier: str) -> str:
        """Return the display name of a method or dataset."""
        return self.names.get(identifier, identifier)

    def caption(self, text: str) -> str:
        """Return a caption with the note."""
        return f"{text} {self.caption_note}".strip()

    def label(self, text: str) -> str:
        """Return a label with the suffix."""
        return f"tab:{text}{self.label_suffix}"


def title_of(metric: str) -> str:
    """Return a metric's name for people."""
    return TITLES.get(metric, metric)
