"""Why an ordered pair of the reference methods may stay open."""

from __future__ import annotations

TREES = ("RandomForestClassifier", "GradientBoostingClassifier", "XGBClassifier", "LGBMClassifier")
BOOSTERS = TREES[1:]


def why_open(up: str, down: str) -> str:
    """Say what may keep a method from beating another by the margin; a sentence for every ordered pair.

    Examples
    --------
    >>> why_open("LogisticRegression", "SVC")
    'an SVC with a linear kernel draws the same boundaries'
    """
    if down == "SVC" and up == "LogisticRegression":
        return "an SVC with a linear kernel draws the same boundaries"
    if down == "SVC" and up == "KNeighborsClassifier":
        return "an SVC with an RBF kernel is local too, and weighs its neighbours by training"
    if up == "DecisionTreeClassifier" and down in TREES:
        return "an ensemble of trees holds the single tree, and averages its errors"
    if up == "DecisionTreeClassifier":
        return "where one tree wins by the margin the other method must miss splits along single features"
    if up == "LogisticRegression" and down in TREES:
        return "a sum of features is learned by many small steps: ensembles come close at 1000 rows"
    if up == "LogisticRegression":
        return "a linear boundary is easy for every method that sees all features at once"
    if up == "KNeighborsClassifier":
        return "neighbours weigh ten features alike; who learns which of them matter does better"
    if up in BOOSTERS and down in BOOSTERS:
        return "both are gradient boosting: they differ in how trees grow and stop, not in what they can fit"
    if up in TREES and down in TREES:
        return "both are ensembles of trees on the same splits: differences stay near the margin"
    return "nothing that was found reaches the margin"
