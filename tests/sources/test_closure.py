"""An edited method is never taken for the old one, wherever in its own code the edit is."""

from __future__ import annotations

import importlib
import itertools
import os
import py_compile
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from paragone import Dataset, Experiment
from paragone.errors import InputError
from paragone.lab.results import Results
from paragone.methods.method import Method, resolve
from paragone.protocols import Curve, KGrid
from paragone.sources import changed_words, code_words, one_look
from paragone.sources.finding import find

METHOD = """
    {imports}

    class Mine:
        def fit(self, X, Y):
            {body}
            self.ranking_ = list(range(X.shape[1]))
            return self
    """
HELPER = "def strength():\n    return {}\n"
NUMBERS = itertools.count()


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A folder on the path, as beside an experiment file or on PYTHONPATH."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Lab(tmp_path)
    forget(tmp_path)


class Lab:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, **files: str) -> None:
        for name, text in files.items():
            file = self.folder / (name.replace("__in__", "/") + ".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text))

    def method(self, imports: str = "", body: str = "pass", at: str = "mine") -> None:
        self.write(**{at: METHOD.format(imports=imports, body=body)})

    def words(self, use: str = "mine:Mine") -> dict[str, str]:
        """What a new Python would say of the method."""
        forget(self.folder)
        return Method.declare(use).versions()


def forget(folder: Path) -> None:
    """Have everything under a folder imported anew."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), "")
        if str(file).startswith(str(folder)):
            del sys.modules[name]
    importlib.invalidate_caches()
    sys.path_importer_cache.clear()


def check_edit_is_seen(
    lab: Lab, file: str, use: str = "mine:Mine", *, before: str = "1", after: str = "2"
) -> None:
    first = lab.words(use)
    assert lab.words(use) == first, "nothing changed"
    path = lab.folder / file
    path.write_text(path.read_text().replace(before, after))
    assert changed_words(first, lab.words(use)) == (file,)


class TestAnEditIsSeen:
    def test_in_the_file_of_the_class(self, lab):
        lab.method(body="self.alpha = 1")
        check_edit_is_seen(lab, "mine.py")

    def test_in_a_module_that_it_imports(self, lab):
        lab.method("from helper import strength")
        lab.write(helper=HELPER.format(1))
        check_edit_is_seen(lab, "helper.py")

    def test_in_a_module_that_the_imported_one_imports(self, lab):
        lab.method("import helper")
        lab.write(helper="import deeper", deeper=HELPER.format(1))
        check_edit_is_seen(lab, "deeper.py")

    def test_in_a_module_that_is_imported_inside_a_function_and_never_ran(self, lab):
        lab.method(body="import helper")
        lab.write(helper=HELPER.format(1))
        check_edit_is_seen(lab, "helper.py")

    def test_in_a_branch_that_is_not_taken_here(self, lab):
        lab.method(
            "try:\n        import no_such_module_here\n    except ImportError:\n        import"
            " helper"
        )
        lab.write(helper=HELPER.format(1))
        check_edit_is_seen(lab, "helper.py")

    def test_in_a_module_that_is_imported_by_a_text(self, lab):
        lab.method("import importlib", body="importlib.import_module('helper')")
        lab.write(helper=HELPER.format(1))
        check_edit_is_seen(lab, "helper.py")

    def test_in_a_module_that_is_imported_by_a_computed_name(self, lab):
        lab.method("from importlib import import_module", body="import_module('hel' + 'per')")
        lab.write(helper=HELPER.format(1))
        check_edit_is_seen(lab, "helper.py")

    def test_in_a_package_that_imports_all_that_lies_in_it(self, lab):
        every = """
            import importlib, pkgutil
            for module in pkgutil.iter_modules(__path__):
                importlib.import_module(f"{__name__}.{module.name}")
            """
        lab.write(pack__in____init__=every, pack__in__part=HELPER.format(1))
        lab.method(at="pack__in__mine")
        check_edit_is_seen(lab, "pack/part.py", "pack.mine:Mine")

    def test_where_a_file_states_a_version(self, lab):
        lab.write(
            mine='__version__ = "1.0"\n'
            + textwrap.dedent(METHOD.format(imports="", body="self.alpha = 1"))
        )
        check_edit_is_seen(lab, "mine.py", before="alpha = 1", after="alpha = 2")

    def test_where_a_package_states_a_version(self, lab):
        lab.write(pack__in____init__='__version__ = "1.0"')
        lab.method(at="pack__in__mine", body="self.alpha = 1")
        check_edit_is_seen(lab, "pack/mine.py", "pack.mine:Mine")

    def test_in_the_package_that_the_module_stands_in(self, lab):
        lab.write(pack__in____init__="SCALE = 1")
        lab.method(at="pack__in__mine")
        check_edit_is_seen(lab, "pack/__init__.py", "pack.mine:Mine")

    @pytest.mark.parametrize(
        "statement", ["from . import part", "from .part import strength", "from pack import part"]
    )
    def test_in_a_relative_import(self, lab, statement):
        lab.write(pack__in____init__="", pack__in__part=HELPER.format(1))
        lab.method(statement, at="pack__in__mine")
        check_edit_is_seen(lab, "pack/part.py", "pack.mine:Mine")

    def test_in_a_relative_import_from_the_package_above(self, lab):
        lab.write(
            pack__in____init__="", pack__in__part=HELPER.format(1), pack__in__sub__in____init__=""
        )
        lab.method("from ..part import strength", at="pack__in__sub__in__mine")
        check_edit_is_seen(lab, "pack/part.py", "pack.sub.mine:Mine")

    def test_in_a_package_without_an_init_file(self, lab):
        lab.write(space__in__part=HELPER.format(1))
        lab.method("import space.part")
        check_edit_is_seen(lab, "space/part.py")

    def test_in_a_base_class_of_another_module(self, lab):
        lab.write(base="class Base:\n    alpha = 1\n")
        lab.write(
            mine=(
                "import base\nclass Mine(base.Base):\n    def fit(self, X, Y):\n        return"
                " self\n"
            )
        )
        check_edit_is_seen(lab, "base.py")

    def test_behind_a_star(self, lab):
        lab.method("from helper import *")
        lab.write(helper=HELPER.format(1))
        check_edit_is_seen(lab, "helper.py")

    def test_in_modules_that_import_each_other(self, lab):
        lab.method("import one")
        lab.write(one="import two", two="import one\nALPHA = 1")
        check_edit_is_seen(lab, "two.py")

    def test_of_a_nested_estimator(self, lab):
        lab.method("import helper")
        lab.write(helper=HELPER.format(1))
        nested = {"use": "tuned", "params": {"ranker": {"use": "mine:Mine"}, "grid": {"a": [1]}}}
        first = Method.declare(nested).versions()
        lab.write(helper=HELPER.format(2))
        forget(lab.folder)
        assert changed_words(first, Method.declare(nested).versions()) == ("helper.py",)

    def test_of_a_method_that_is_tuned_by_its_name(self, lab):
        lab.method(body="self.alpha = 1")
        nested = {"use": "tuned", "params": {"ranker": "mine:Mine", "grid": {"a": [1]}}}
        first = Method.declare(nested).versions()
        lab.method(body="self.alpha = 2")
        forget(lab.folder)
        assert changed_words(first, Method.declare(nested).versions()) == ("mine.py",)

    def test_that_keeps_size_and_time_of_the_file(self, lab):
        lab.method("import helper")
        lab.write(helper=HELPER.format(1))
        first, file = lab.words(), lab.folder / "helper.py"
        stat = file.stat()
        file.write_text(HELPER.format(2))
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert (file.stat().st_size, file.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
        assert changed_words(first, lab.words()) == ("helper.py",)

    def test_in_byte_code_that_came_without_its_source(self, lab):
        lab.method("import compiled")
        lab.write(helper=HELPER.format(1))

        def deliver(value: int) -> None:
            source = lab.folder / "compiled_source.txt"
            source.write_text(f"import helper\nALPHA = {value}\n")
            py_compile.compile(str(source), str(lab.folder / "compiled.pyc"), doraise=True)

        deliver(1)
        first = lab.words()
        assert "helper.py" in first, "imports are read from byte code too"
        deliver(2)
        assert changed_words(first, lab.words()) == ("compiled.pyc",)

    def test_when_something_optional_is_installed(self, lab):
        lab.method(
            "try:\n        import sometimes\n    except ImportError:\n        sometimes = None"
        )
        first = lab.words()
        assert first["sometimes"] == "not installed"
        lab.write(sometimes="ALPHA = 1")
        assert {"sometimes", "sometimes.py"} == {
            word.partition(" ")[0] for word in changed_words(first, lab.words())
        }


class TestWhatChangesNothing:
    def test_an_edit_of_what_the_method_does_not_import(self, lab):
        lab.method("import helper")
        lab.write(helper=HELPER.format(1), other=HELPER.format(1))
        first = lab.words()
        lab.write(other=HELPER.format(2))
        assert lab.words() == first

    def test_what_only_a_type_checker_imports(self, lab):
        lab.method("from typing import TYPE_CHECKING\n    if TYPE_CHECKING:\n        import other")
        lab.write(other=HELPER.format(1))
        assert set(lab.words()) == {"mine.py"}

    def test_another_method_of_the_same_package_having_been_imported(self, lab):
        lab.write(pack__in____init__="")
        lab.method(at="pack__in__mine")
        lab.method(at="pack__in__yours")
        first = lab.words("pack.mine:Mine")
        resolve("pack.yours:Mine")
        assert Method.declare("pack.mine:Mine").versions() == first

    def test_the_folder_that_the_code_lies_in(self, lab, tmp_path_factory, monkeypatch):
        for place in (lab, Lab(tmp_path_factory.mktemp("elsewhere"))):
            place.method("import helper")
            place.write(helper=HELPER.format(1))
        first = lab.words()
        monkeypatch.syspath_prepend(place.folder)
        forget(lab.folder)
        try:
            assert place.words() == first
        finally:
            forget(place.folder)

    def test_python_itself(self, lab):
        lab.method("import json, collections.abc, os.path")
        assert set(lab.words()) == {"mine.py"}

    def test_modules_that_cannot_be_parsed_are_hashed_all_the_same(self, lab):
        lab.method(body="import broken")
        lab.write(broken="def (:")
        assert "broken.py" in lab.words()


def install(
    site: Path, name: str, version: str, files: dict[str, str], *, editable: bool = False
) -> None:
    """Write what an installer writes."""
    metadata = site / f"{name}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    listed = [f"__editable__.{name}.pth"] if editable else list(files)
    (metadata / "RECORD").write_text("".join(f"{file},sha256=x,1\n" for file in listed))
    for file, text in files.items():
        path = (site.parent / "checkout" if editable else site) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


PACKAGE = {
    "pack/__init__.py": '__version__ = "1.0"\n',
    "pack/mine.py": textwrap.dedent(METHOD).format(imports="from pack import part", body="pass"),
    "pack/part.py": HELPER.format(1),
}


class TestInstalledPackages:
    @pytest.fixture
    def site(self, tmp_path, monkeypatch):
        site = tmp_path / f"site-packages-{next(NUMBERS)}"
        for folder in (site, tmp_path / "checkout"):
            monkeypatch.syspath_prepend(folder)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        yield site
        forget(tmp_path)

    def test_a_frozen_one_counts_by_its_version(self, site):
        install(site, "pack", "1.0", PACKAGE)
        assert Method.declare("pack.mine:Mine").versions() == {"pack": "1.0"}

    def test_an_editable_one_counts_by_its_files(self, site):
        install(site, "pack", "1.0", PACKAGE, editable=True)
        first = Method.declare("pack.mine:Mine").versions()
        assert set(first) == set(PACKAGE)
        (site.parent / "checkout" / "pack" / "part.py").write_text(HELPER.format(2))
        forget(site.parent)
        assert changed_words(first, Method.declare("pack.mine:Mine").versions()) == (
            "pack/part.py",
        )

    def test_a_file_that_was_copied_among_the_installed_ones_counts_by_its_content(self, site):
        install(site, "other", "1.0", {"other/__init__.py": ""})
        (site / "stray.py").write_text(
            textwrap.dedent(METHOD).format(imports="import other", body="pass")
        )
        assert set(Method.declare("stray:Mine").versions()) == {"stray.py", "other"}

    def test_of_a_namespace_each_distribution_counts_by_itself(self, site):
        install(
            site,
            "space-a",
            "1.0",
            {"space/a.py": textwrap.dedent(METHOD).format(imports="", body="pass")},
        )
        (site / "space" / "b.py").write_text(HELPER.format(1))
        assert find("space.a").kind == "frozen"
        assert find("space.b").kind == "file"

    def test_a_distribution_of_another_name_than_its_package(self):
        from importlib.metadata import version

        assert Method.declare("sklearn.svm:LinearSVC").versions() == {
            "sklearn": version("scikit-learn")
        }


class TestWhatPythonRunsIsWhatTheFileSays:
    """A key that tells of the file while Python runs something else would be a lie."""

    def test_an_edit_after_the_import_is_refused(self, lab):
        lab.method("import helper")
        lab.write(helper=HELPER.format(1))
        lab.words()
        lab.write(helper=HELPER.format(2))
        with pytest.raises(
            InputError, match=r"helper\.py is not what Python imported: .*restart Python"
        ):
            Method.declare("mine:Mine").versions()

    def test_an_edit_between_the_import_and_the_first_look_is_refused(self, lab):
        lab.method("import helper")
        lab.write(helper=HELPER.format(1))
        resolve("mine:Mine")
        lab.write(helper=HELPER.format(2))
        with pytest.raises(
            InputError, match=r"helper\.py is not what Python imported in 'strength'"
        ):
            Method.declare("mine:Mine").versions()

    def test_a_comment_may_change(self, lab):
        lab.method("import helper")
        lab.write(helper=HELPER.format(1))
        first = lab.words()
        lab.write(helper="# A remark.\n" + HELPER.format(1))
        assert changed_words(first, Method.declare("mine:Mine").versions()) == ("helper.py",)

    def test_a_reload_makes_it_good(self, lab):
        lab.method("import helper")
        lab.write(helper=HELPER.format(1))
        lab.words()
        lab.write(helper=HELPER.format(2))
        importlib.reload(sys.modules["helper"])
        assert "helper.py" in Method.declare("mine:Mine").versions()

    @pytest.mark.parametrize("text", [HELPER, "STRENGTH = {}\n"])
    def test_byte_code_that_is_out_of_date_and_looks_as_if_it_were_not_is_refused(
        self, lab, monkeypatch, text
    ):
        monkeypatch.setattr(sys, "dont_write_bytecode", False)
        lab.method("import helper")
        file = lab.folder / "helper.py"
        file.write_text(text.format(1))
        lab.words()
        stat = file.stat()
        file.write_text(text.format(2))
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        with pytest.raises(InputError, match=r"helper\.py"):
            lab.words()
        for cached in (lab.folder / "__pycache__").iterdir():
            cached.unlink()
        assert "helper.py" in lab.words()


def test_one_look_is_one_moment_and_the_next_is_another(lab):
    lab.method()
    lab.words()
    with one_look():
        first = code_words([resolve("mine:Mine")])
        (lab.folder / "mine.py").write_text((lab.folder / "mine.py").read_text() + "# more\n")
        assert code_words([resolve("mine:Mine")]) == first
    assert code_words([resolve("mine:Mine")]) != first


def test_paragone_from_its_sources_counts_by_the_files_behind_the_class():
    words = Method.declare("dagfs").versions()
    if find("paragone").kind == "frozen":
        assert set(words) == {"paragone"}
    else:
        assert {
            "paragone/methods/rankers/dagfs.py",
            "paragone/methods/rankers/base.py",
            "paragone/validation.py",
        } <= set(words)
        assert not any(name.startswith(("paragone/cli", "paragone/reporting")) for name in words)


class TestStoresSayWhichFileChanged:
    def experiment(self, lab: Lab) -> Experiment:
        forget(lab.folder)
        rng = np.random.default_rng(0)
        data = Dataset("d", rng.random((30, 4)), rng.integers(0, 2, (30, 2)), "multilabel")
        methods = {"Mine": "mine:Mine", "V": "variance"}
        return Experiment([data], methods, {"folds": 2}, Curve(KGrid(2, 4, 2)), name="e")

    def test_in_the_forecast_and_in_the_status(self, lab, tmp_path):
        lab.method("import helper")
        lab.write(helper=HELPER.format(1))
        store = tmp_path / "lab.sqlite"
        self.experiment(lab).run(store, workers=0).close()
        assert len(self.experiment(lab).forecast(store).to_run) == 0
        lab.write(helper=HELPER.format(2))
        forecast = self.experiment(lab).forecast(store)
        assert {cell.method for cell in forecast.to_run} == {"Mine"}
        assert "2 stale: helper.py changed since the stored result" in str(forecast)
        # A run that has no time plans the cells and leaves them stale.
        self.experiment(lab).run(store, workers=0, budget=1e-9).close()
        with Results.open(store) as results:
            places = results.places()
        stale = places[places["status"] == "stale"]
        assert set(stale["method"]) == {"Mine"}
        assert set(stale["why"]) == {"helper.py changed"}

    def test_a_protocol_of_the_users_own_counts_too(self, lab):
        lab.write(
            scoring=(
                "import helper\nfrom paragone.protocols import Curve\nclass Mine(Curve):\n   "
                " pass\n"
            )
        )
        lab.write(helper=HELPER.format(1))
        lab.method()

        def keys() -> list[str]:
            forget(lab.folder)
            protocol = importlib.import_module("scoring").Mine(KGrid(2, 4, 2))
            data = Dataset("d", np.eye(30, 4), np.eye(30, 2), "multilabel")
            return [
                cell.key
                for cell in Experiment([data], {"V": "variance"}, {"folds": 2}, protocol).cells()
            ]

        first = keys()
        assert keys() == first
        lab.write(helper=HELPER.format(2))
        assert not set(keys()) & set(first)
