"""The files of the original feature-selection protocol: rankings, times and curves, in and out."""

from paragone.exchange.exporting import Exported, export_protocol_files
from paragone.exchange.importing import Imported, import_rankings
from paragone.exchange.ranking_files import read_ranking, write_ranking

__all__ = [
    "Exported",
    "Imported",
    "export_protocol_files",
    "import_rankings",
    "read_ranking",
    "write_ranking",
]
