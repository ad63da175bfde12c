"""Files for others: rankings, times and curves of the original protocol, and whole stores as archives, in and out."""

from paragone.exchange.archive import Archive, export_archive, import_archive, is_archive
from paragone.exchange.exporting import Exported, export_protocol_files
from paragone.exchange.importing import Imported, import_rankings
from paragone.exchange.ranking_files import read_ranking, write_ranking

__all__ = [
    "Archive",
    "Exported",
    "Imported",
    "export_archive",
    "export_protocol_files",
    "import_archive",
    "import_rankings",
    "is_archive",
    "read_ranking",
    "write_ranking",
]
