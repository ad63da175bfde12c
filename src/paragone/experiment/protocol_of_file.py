"""The protocol that an experiment file declares."""

from __future__ import annotations

from pathlib import Path

from paragone.experiment.declaration import CrossvalSection, ProtocolSection, TopKSection
from paragone.plugins import Method
from paragone.protocols import Crossval, Curve, Protocol, TopK
from paragone.protocols.crossval import StoredFolds


def declared_protocol(section: ProtocolSection | CrossvalSection | TopKSection, folder: Path) -> Protocol:
    """Make the protocol of its section; file names in it are relative to the experiment file's folder."""
    if isinstance(section, CrossvalSection):
        return _crossval(section, folder)
    if isinstance(section, TopKSection):
        return TopK(**section.model_dump(exclude={"kind"}))
    evaluator = section.evaluator if isinstance(section.evaluator, str) else section.evaluator.model_dump()
    return Curve(
        section.k,
        section.p,
        Method.declare(evaluator, kind="evaluator"),
        section.metrics,
        section.zero_division,
        section.keep_predictions,
    )


def _crossval(section: CrossvalSection, folder: Path) -> Crossval:
    return Crossval(
        metric=section.metric,
        select=section.select,
        test=section.test,
        repeats=section.repeats,
        folds=None if section.stored is None else StoredFolds.read(folder / section.stored),
        targets=section.targets,
        aggregate=section.aggregate,
        naming=section.naming,
        weighting=section.weighting,
        ddof=section.ddof,
        task=section.task,
        share=section.share,
    )
