"""Parameters that name a file: the content identifies the method, wherever the file lies."""

from __future__ import annotations

import pytest

from paragone import Experiment
from paragone.errors import InputError
from paragone.methods.method import Method
from paragone.methods.recommenders.smgcn.model import SMGCN
from paragone.protocols import TopK


def declare(name, folder):
    return Method(SMGCN, {"token_pairs": name}).with_files_read(folder)


def test_the_content_of_a_named_file_identifies_a_method(tmp_path):
    (tmp_path / "here.txt").write_text("0 1\n2 3\n")
    (tmp_path / "there.txt").write_text("3 2\n0 1\n")
    (tmp_path / "changed.txt").write_text("0 1\n2 4\n")
    here, there, changed = (
        declare(f"{name}.txt", tmp_path).identity() for name in ("here", "there", "changed")
    )
    assert here == there
    assert here != changed


def test_a_method_keeps_what_it_read_when_the_file_changes(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("0 1\n")
    method = declare(str(path), tmp_path)
    path.write_text("5 6\n")
    assert method.build().token_pairs.tolist() == [[0, 1]]


def test_an_experiment_looks_for_the_files_of_its_methods_in_its_folder(tmp_path):
    (tmp_path / "pairs.txt").write_text("0 1\n")
    methods = {"SMGCN": {"use": "smgcn", "params": {"token_pairs": "pairs.txt"}}}
    experiment = Experiment(["herb"], methods, protocol=TopK(), folder=tmp_path)
    assert experiment.methods["SMGCN"].params["token_pairs"].tolist() == [[0, 1]]


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match=r"missing\.txt"):
        declare("missing.txt", tmp_path)
