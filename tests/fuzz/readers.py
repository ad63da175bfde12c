"""Every reader of files, with good files to start from and what is called with a file."""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import h5py
import mutation
import numpy as np
import pandas as pd
import result_trees
from scipy import sparse

from paragone.data.prescriptions import (
    read_mapping,
    read_pairs,
    read_prescriptions,
    read_row_numbers,
)
from paragone.data.reader import ReadOptions
from paragone.data.readers.arff import read_arff, read_labels
from paragone.data.readers.mat import read_mat
from paragone.data.readers.npz import read_npz, save_npz
from paragone.data.readers.table import read_table
from paragone.data.toplists import (
    join_run,
    read_qrels,
    read_relevant,
    read_run,
    read_scores,
    read_triples,
    read_truth,
)
from paragone.errors import InputError
from paragone.intake.frames import read_frame as read_score_frame
from paragone.lab.archive import MANIFEST, export_archive, file_of, import_archive, read_rows
from paragone.lab.declaration import declared_protocol, parse_declaration
from paragone.lab.reproduction import read_record
from paragone.lab.results import Results
from paragone.lab.store.checking import check
from paragone.lab.store.schema import table_shapes
from paragone.protocols.curve.files import read_ranking
from paragone.protocols.curve.results_folder import read_curve_file

ROOT = Path(__file__).parents[2]
STORE = ROOT / "tests" / "lab" / "store" / "version1.sqlite"
Mutator = Callable[[Sequence[bytes], random.Random, Sequence[bytes]], bytes]


@dataclass(frozen=True)
class Reader:
    """One reader: the ending of its files, good files, what to do with one, how to spoil one, words of the format."""

    ending: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    mutate: Mutator = mutation.mutated
    words: tuple[bytes, ...] = ()


def _bytes(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


# ARFF

ARFF = _bytes(
    "@relation 't: -C 2'\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@attribute x real\n"
    "@attribute 'a b' {red,'dark blue'}\n@data\n1,0,2.5,red\n0,1,?,'dark blue'\n1,1,-1e3,red\n",
    "% a comment\n@relation 's: -C -1'\n@attribute x numeric\n@attribute y integer\n@attribute s"
    " string\n@attribute l {0,1}\n@data\n{0 1.5, 3 1}\n{1 2, 2 'text'}\n{}\n",
    "@RELATION r\n@ATTRIBUTE d DATE 'yyyy'\n@ATTRIBUTE l {no,yes}\n@DATA\n2000,yes\n",
)


# Tables

CSV = _bytes(
    "a,b,town,y\n1,2.5,Bari,0\n2,,Asti,1\n3,4.5,Bari,0\n",
    'a;"b,c",y\n"1","x ""q"" y",0\n2,"two\nlines",1\n',
    "id,y\n0,1.5\n1,2.5\n2,-3\n",
)


def _table(path: Path) -> None:
    task = ("classification", "regression")[_choice(path, 2)]
    read_table(path, ReadOptions(target="y", task=task))


def _choice(path: Path, n: int) -> int:
    """Choose what to do with a file by its content, so that the same input does the same again."""
    return zlib.crc32(path.read_bytes()) % n


def _any_of(path: Path, *reads: Callable[[Path], object]) -> None:
    """Let several readers try; refused is what all refuse."""
    refusals = []
    for read in reads:
        try:
            read(path)
        except InputError as error:
            refusals.append(error)
    if len(refusals) == len(reads):
        raise refusals[0]


def _parquet() -> list[bytes]:
    buffer = io.BytesIO()
    frame = pd.DataFrame(
        {"a": [1.0, None, 3.0], "t": ["x", "y", None], "y": [0, 1, 0], "b": [True, False, True]}
    )
    frame.to_parquet(buffer)
    plain = io.BytesIO()
    frame[["a", "y"]].to_parquet(plain, compression=None, index=False)
    return [buffer.getvalue(), plain.getvalue()]


# Arrays


def _npz() -> list[bytes]:
    from paragone.data.dataset import Dataset

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.npz"
        save_npz(
            Dataset(
                "d", np.eye(4), np.array([0, 1, 0, 1]), task="classification", groups=np.arange(4)
            ),
            path,
        )
        dense = path.read_bytes()
        labels = np.array([[0, 1], [1, 0], [1, 1]])
        save_npz(Dataset("s", sparse.csr_array(np.eye(3)), labels, task="multilabel"), path)
        packed = path.read_bytes()
    buffer = io.BytesIO()
    np.savez(
        buffer,
        X=np.asfortranarray(np.ones((5, 2))),
        Y=np.ones((5, 3), dtype=np.int8),
        name=np.array("é"),
    )
    return [dense, packed, buffer.getvalue()]


def _one_array() -> list[bytes]:
    buffer = io.BytesIO()
    np.savez(buffer, scores=np.arange(6.0).reshape(2, 3))
    return [buffer.getvalue()]


def _npy() -> list[bytes]:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(6.0).reshape(2, 3))
    return [buffer.getvalue()]


def _mat73() -> list[bytes]:
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", userblock_size=512) as file:
        file["X"] = np.arange(12.0).reshape(3, 4)
        file.create_dataset("Y", data=np.eye(2, 4), compression="gzip")
    content = bytearray(buffer.getvalue())
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    content[: len(head)] = head
    return [bytes(content)]


# Text

TOML = [
    *(path.read_bytes() for path in sorted((ROOT / "examples").glob("*.toml"))),
    (
        b'name = "a"\nseed = 1\n[data]\nsets = ["iris", { path = "x.csv", target = ["y"]'
        b' }]\n[split]\nkind = "kfold"\nfolds = 3\n[protocol]\nkind = "crossval"\nselect = [{ by ='
        b' "mean" }]\n[methods.A]\nuse = "pls"\nparams = { n = 1979-05-27 }\n'
    ),
    (
        b'name = "t"\n[data]\nsets = ["x"]\n[protocol]\nkind = "topk"\nk = [5,'
        b' 10]\n[methods.P]\nuse = "popularity"\n[limits]\nseconds = 5\n'
    ),
]


def _toml(path: Path) -> None:
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return
    declared_protocol(parse_declaration(text).protocol, path.parent)


RUN = _bytes("q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.5 tag\nq2 Q0 d1 1 0.5 tag\n")
QRELS = _bytes("q1 0 d1 1\nq1 0 d3 2\nq2 0 d9 0\n")


def _trec(path: Path) -> None:
    _any_of(
        path,
        lambda path: join_run(read_run(path), {"q1": {"d1": 1}}),
        lambda path: join_run({"q1": {"d1": 1.0}}, read_qrels(path)),
    )


HERBS = _bytes(
    "0 1 2\t3 4\n1\t0\n2 5\t1 2 3\n",
    "a b 0\nc 1\nd 5\n",
    "0 1\n1 2\n",
    "0\n3\n7\n",
    "1.5,2\n3,4\n",
    "1 2 3\n4 5\n",
)


def _herbs(path: Path) -> None:
    _any_of(
        path,
        read_prescriptions,
        read_mapping,
        read_pairs,
        lambda path: read_row_numbers(path, n_rows=10),
        read_scores,
        read_truth,
    )


SCORES = _bytes("dataset,fold,method,metric,value\na,0,A,f1,0.5\na,0,B,f1,0.25\n")
XML = _bytes(
    '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels"><label name="a"/>'
    '<label name="b"/></labels>'
)


def _page() -> list[bytes]:
    record = {
        "format": "paragone-provenance",
        "version": 1,
        "experiment": "lab",
        "seed": 1,
        "declared": "name = 'lab'",
        "data": ["a"],
        "datasets": {"a": "0f"},
        "runs": [
            {"begun_at": "", "workers": 1, "environment": {"python": "3.12.0", "numpy": "2.0"}}
        ],
    }
    text = json.dumps(record)
    return [
        f"<html><script>x</script><script id='paragone-provenance'>{text}</script></html>".encode()
    ]


def _page_read(path: Path) -> None:
    from paragone.lab.reproduction import reproduce

    out = path.parent / "again"
    read_record(path)
    reproduce(path, out)
    shutil.rmtree(out)


# Stores and archives


def _store_read(path: Path) -> None:
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    what = _choice(path, 3)
    if what == 0:
        check(path)
        return
    with Results.open(path) as results:
        if what == 1:
            asked = [
                results.scores,
                results.places,
                results.failures,
                results.runs,
                results.datasets,
                results.declared,
            ]
        else:
            asked = [
                lambda: results.counts("lab"),
                lambda: results.reader().predictions("wine-traits", 0, "V"),
                lambda: results.reader().ranking("wine-traits", 0, "V"),
                lambda: results.diagnostics("wine-traits", 1, "C"),
            ]
        _any_of(path, *(lambda _, ask=ask: ask() for ask in asked))


@cache
def _archive_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="paragone-fuzz-"))
    export_archive(STORE, folder / "archive")
    return folder / "archive"


def _archive_seeds() -> list[bytes]:
    names = [
        MANIFEST,
        "tables/cells.parquet",
        "tables/scores.parquet",
        "tables/runs.json",
        "tables/experiments.json",
    ]
    return [
        bytes([place]) + (_archive_folder() / name).read_bytes() for place, name in enumerate(names)
    ]


def _archive_mutated(
    seeds: Sequence[bytes], rng: random.Random, words: Sequence[bytes] = ()
) -> bytes:
    data = rng.choice(seeds)
    return data[:1] + mutation.mutated([data[1:]], rng, words)


def _archive_read(path: Path) -> None:
    """Put the content in the place of a file of an archive; tables get the hash that they need to be looked at."""
    content = path.read_bytes()
    names = [
        MANIFEST,
        "tables/cells.parquet",
        "tables/scores.parquet",
        "tables/runs.json",
        "tables/experiments.json",
    ]
    name = names[content[0] % len(names)] if content else MANIFEST
    folder, out = path.parent / "archive", path.parent / "out.sqlite"
    original = (_archive_folder() / MANIFEST).read_bytes()
    if not folder.exists():
        shutil.copytree(_archive_folder(), folder)
    (folder / name).write_bytes(content[1:])
    try:
        if name != MANIFEST:
            manifest = json.loads(original)
            entry = manifest["files"][name]
            entry |= {"sha256": hashlib.sha256(content[1:]).hexdigest(), "bytes": len(content[1:])}
            (folder / MANIFEST).write_text(json.dumps(manifest))
            # The whole way into a store takes a while, so most inputs go as far as what is new
            # about them.
            if _choice(path, 10):
                shape = next(shape for shape in table_shapes() if file_of(shape) == name)
                for _ in read_rows(folder / name, shape, entry["rows"], name):
                    pass
                return
        import_archive(folder, out)
    finally:
        shutil.copy(_archive_folder() / name, folder / name)
        (folder / MANIFEST).write_bytes(original)
        out.unlink(missing_ok=True)


# Tables of papers, and the files of the curve protocol

MARKDOWN = _bytes(
    "# Results\n\n| data | A | B |\n|:---|---:|:-:|\n| iris | **0.9** | 0.8 ± 0.1 |\n"
    "| wine<sup>a</sup> | $0.7_{0.1}$ | - |\n",
    "a|b\n-|-\n`x`|81,2\n\n```\n|c|d|\n|-|-|\n```\n",
)
LATEX = _bytes(
    r"\begin{table}\caption{R}\begin{tabular}{lrr}\toprule \multirow{2}{*}{Method} &"
    r" \multicolumn{2}{c}{Arts} \\ "
    r"& Micro-F1 & Accuracy \\ \midrule A\_1 & \textbf{0.9 $\pm$ 0.1} & $0.8^{*}$ \\ \hline B &"
    r" {\bf 0.7} & -- \\ "
    r"\bottomrule\end{tabular}\end{table}",
    r"\begin{tabular}{ll} a & b \\ \hline x & $1.2\times 10^{-3}$ \\ \phantom{-}y & 81\std{3} %"
    r" no \\",
)
HTML = _bytes(
    "<table><caption>R</caption><thead><tr><th rowspan=2>data<th colspan=2>A</tr></thead>"
    "<tr><td>iris<td><b>0.9</b><sup>*</sup><td>0.8&plusmn;0.1</table>",
    '<table><tr><th>a<th>b<tr><td>x<td><math alttext="0.5\\pm'
    ' 0.1"><mn>0.5</mn></math></table><![CDATA[x]]>',
)
CURVES = _bytes(
    '{"k_values": [10, 20], "micro_f1": [0.5, null], "micro_f1_mean": 0.5, "program": "mine"}',
    '{"k_values": 10, "micro_f1": 0.5}',
)
TRIPLES = _bytes(
    "u1\ti1\t0.5\nu1\ti2\t0.25\nu2\ti1\t1e-3\n", "user_id:token\titem_id:token\nu1\ti2\n"
)


def _excel() -> list[bytes]:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["data", "A", "B"], ["iris", 0.9, "0.8 ± 0.1"], ["wine", 0.7, None]):
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return [buffer.getvalue()]


# Results of other programs: the first two bytes say in which file of a tree the content is put.


def _tree_seeds(name: str) -> list[bytes]:
    contents = result_trees.tree_of(name).values()
    return [place.to_bytes(2, "little") + content for place, content in enumerate(contents)]


def _tree_mutated(name: str) -> Mutator:
    inner = mutation.in_zip if name == "inspect_eval" else mutation.mutated

    def mutate(seeds: Sequence[bytes], rng: random.Random, words: Sequence[bytes] = ()) -> bytes:
        data = rng.choice(seeds)
        return data[:2] + inner([data[2:]], rng, words)

    return mutate


def _tree_read(name: str, path: Path) -> None:
    """Put the content in the place of one file of the tree, and read and compare the whole."""
    tree, folder = result_trees.tree_of(name), path.parent / name
    content = path.read_bytes()
    places = list(tree)
    place = places[int.from_bytes(content[:2], "little") % len(places)]
    sources = result_trees.write_tree(tree, folder) if not folder.exists() else None
    sources = sources or [
        folder / one for one in dict.fromkeys(each.split("/")[0] for each in tree)
    ]
    (folder / place).write_bytes(content[2:])
    try:
        result_trees.read_tree(name, sources)
    finally:
        (folder / place).write_bytes(tree[place])


RESULTS = {
    f"results-{name}": Reader(
        ".bin",
        partial(_tree_seeds, name),
        partial(_tree_read, name),
        _tree_mutated(name),
        words=(b"NaN", b"Infinity", b"null", b'"acc"', b"1e400", b"\xc3\x28", b'{"a":' * 300),
    )
    for name in result_trees.TREES
}

READERS: dict[str, Reader] = {
    **RESULTS,
    "markdown": Reader(
        ".md", lambda: MARKDOWN, read_score_frame, words=(b"|---|", b"**", b"<table>", b"$", b"~~")
    ),
    "latex": Reader(
        ".tex",
        lambda: LATEX,
        read_score_frame,
        words=(
            rb"\multicolumn{9999}{c}{x}",
            rb"\multirow{-1}{*}{x}",
            rb"\\",
            b"&",
            rb"\begin{tabular}",
            b"_{",
            b"^",
        ),
    ),
    "html": Reader(
        ".html",
        lambda: HTML,
        read_score_frame,
        words=(
            b"<table>",
            b"colspan=1000000",
            b"rowspan=0",
            b"<!ENTITY",
            b"<![",
            b"&#x110000;",
            b"</table>",
        ),
    ),
    "excel": Reader(".xlsx", _excel, read_score_frame, mutation.in_zip),
    "curves": Reader(
        ".json",
        lambda: CURVES,
        lambda path: read_curve_file(path, "k"),
        words=(b"NaN", b"1e999", b"null"),
    ),
    "triples": Reader(
        ".tsv", lambda: TRIPLES, lambda path: _any_of(path, read_triples, read_relevant)
    ),
    "arff": Reader(
        ".arff",
        lambda: ARFF,
        lambda path: read_arff(path, ReadOptions()),
        words=(b"@attribute", b"@relation", b"real", b"-C 3", b"date", b"relational"),
    ),
    "csv": Reader(".csv", lambda: CSV, _table, mutation.in_gzip),
    "parquet": Reader(".parquet", _parquet, _table),
    "mat73": Reader(".mat", _mat73, lambda path: read_mat(path, ReadOptions())),
    "npz": Reader(
        ".npz",
        _npz,
        lambda path: read_npz(path, ReadOptions()),
        mutation.in_zip,
        words=(
            b"'descr': '|O'",
            b"'fortran_order': True",
            b"'shape': (1000000000000,)",
            b"<U4000000000",
        ),
    ),
    "toplist-npz": Reader(".npz", _one_array, read_scores, mutation.in_zip),
    "toplist-npy": Reader(".npy", _npy, read_scores),
    "toml": Reader(
        ".toml",
        lambda: TOML,
        _toml,
        words=(b"[[a]]", b"1979-13-99", b"'''", b'"""', b"0o9", b"a.b.c = 1"),
    ),
    "trec": Reader(".txt", lambda: [*RUN, *QRELS], _trec),
    "herbs": Reader(".txt", lambda: HERBS, _herbs),
    "rankings": Reader(
        ".csv", lambda: _bytes("1,2,3\n", "3\n1\n2\n"), lambda path: read_ranking(path, 3)
    ),
    "labels": Reader(
        ".xml",
        lambda: XML,
        read_labels,
        words=(b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"<label/>"),
    ),
    "scores": Reader(".csv", lambda: SCORES, read_score_frame),
    "page": Reader(".html", _page, _page_read),
    "store": Reader(".sqlite", lambda: [STORE.read_bytes()], _store_read),
    "archive": Reader(".bin", _archive_seeds, _archive_read, _archive_mutated),
}
