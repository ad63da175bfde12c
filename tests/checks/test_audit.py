"""The audit as a whole: acknowledgements, exit codes, JSON, and what could not be looked at."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import paragone
from paragone import InputError
from paragone.checks import Acknowledgement, Audit, Finding, all_codes
from paragone.checks.finding import acknowledge

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import crossval_experiments, small_curve

LEAKY = """
name = "leaky"
[data]
sets = ["rows.csv"]
[split]
folds = 2
[protocol]
k = { min = 2, max = 4, step = 2 }
[methods.Variance]
use = "variance"
"""


@pytest.fixture
def leaky(tmp_path) -> Path:
    """An experiment on a file whose rows stand there twice, and that has a constant column."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((40, 4)), 2, axis=0)[rng.permutation(80)]
    Y = (rng.random((80, 2)) < 0.5).astype(int)
    table = np.column_stack([X, np.ones(80), Y])
    header = "a,b,c,d,one,label_0,label_1"
    np.savetxt(tmp_path / "rows.csv", table, delimiter=",", header=header, comments="", fmt="%.17g")
    entry = '{ path = "rows.csv", target = ["label_0", "label_1"], task = "multilabel" }'
    (tmp_path / "leaky.toml").write_text(LEAKY.replace('"rows.csv"', entry))
    return tmp_path / "leaky.toml"


def with_known(file: Path, *entries: str) -> Path:
    known = file.with_name("known.toml")
    known.write_text(
        file.read_text() + "".join(f"\n[[audit.acknowledge]]\n{entry}\n" for entry in entries)
    )
    return known


QUICK = ("--canary", "none")
EVERYTHING = (
    'code = "PG101"\nreason = "measured twice on purpose"',
    'code = "PG108"\ndataset = "rows"\nreason = "padding"',
)


class TestExitCodes:
    def test_open_findings_give_one(self, paragone, leaky):
        ended = paragone("audit", leaky, *QUICK)
        assert ended.code == 1
        assert "PG101 error: rows:" in ended.out
        assert "PG108 note: rows: 1 of 5 columns holds a single value" in ended.out

    def test_acknowledged_findings_are_listed_and_give_zero(self, paragone, leaky):
        ended = paragone("audit", with_known(leaky, *EVERYTHING), *QUICK)
        assert ended.code == 0
        assert "no open finding, 2 acknowledged" in ended.out
        assert "acknowledged: measured twice on purpose" in ended.out

    def test_an_acknowledgement_of_another_dataset_does_not_count(self, paragone, leaky):
        other = f'{EVERYTHING[0]}\ndataset = "others"'
        assert paragone("audit", with_known(leaky, EVERYTHING[1], other), *QUICK).code == 1

    def test_a_note_asks_for_no_answer(self, paragone, leaky):
        ended = paragone("audit", with_known(leaky, EVERYTHING[0]), *QUICK)
        assert (ended.code, ended.out.splitlines()[0]) == (
            0,
            "Audit of known.toml: no open finding, 1 note, 1 acknowledged",
        )
        assert "PG108 note" in ended.out

    def test_less_bad_findings_can_be_left_out_and_are_counted(self, paragone, leaky):
        ended = paragone("audit", with_known(leaky, EVERYTHING[0]), "--level", "warning", *QUICK)
        assert ended.code == 0
        assert "1 below the level asked for" in ended.out

    @pytest.mark.parametrize(
        ("entry", "words"),
        [
            ('code = "PG101"\nreason = "  "', "the reason is empty"),
            ('code = "PG101"', "'audit.acknowledge.0.reason' is missing"),
            ('code = "PG999"\nreason = "x"', "unknown audit code 'PG999'"),
            ('code = "leak"\nreason = "x"', "PG"),
            (
                'code = "PG101"\nreason = "x"\ndata = "rows"',
                "unknown key 'audit.acknowledge.0.data'",
            ),
        ],
    )
    def test_bad_acknowledgements_give_two_and_a_sentence(self, paragone, leaky, entry, words):
        ended = paragone("audit", with_known(leaky, entry))
        assert ended.code == 2
        assert words in ended.err
        assert "Traceback" not in ended.err

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["gone.sqlite"], "does not exist"),
            (["gone.toml"], "no experiment file"),
            (["{leaky}", "--against", "{leaky}"], ".tex and .csv"),
        ],
    )
    def test_bad_input_gives_two(self, paragone, leaky, arguments, words):
        ended = paragone("audit", *(argument.format(leaky=leaky) for argument in arguments))
        assert ended.code == 2
        assert words in ended.err

    def test_unknown_choices_are_refused_outside_the_command_line_too(self, leaky):
        with pytest.raises(InputError, match="unknown canary 'some'"):
            paragone.audit(leaky, canary="some")
        with pytest.raises(InputError, match="unknown level 'bad'"):
            paragone.audit(leaky, canary="none").at_least("bad")

    def test_a_clean_experiment_gives_zero(self, paragone, tmp_path):
        text = (
            'name = "c"\n[data]\nsets = ["wine-traits"]\n[split]\nfolds = 2\n[methods.V]\nuse ='
            ' "variance"\n'
        )
        (tmp_path / "c.toml").write_text(text)
        ended = paragone("audit", tmp_path / "c.toml", *QUICK)
        assert (ended.code, ended.out.splitlines()[0]) == (0, "Audit of c.toml: no open finding")


class TestStores:
    def test_json_holds_everything(self, paragone, leaky):
        assert paragone("run", leaky, "--workers", "0", "--accept-leak", "all").code == 0
        ended = paragone(
            "audit", leaky.with_suffix(".sqlite"), "--json", "--sample", "2", "--run-code"
        )
        values = json.loads(ended.out)
        assert ended.code == 1
        assert (values["clean"], values["open"], values["notes"]) == (False, 1, 1)
        (leak,) = [found for found in values["findings"] if found["code"] == "PG101"]
        assert (leak["severity"], leak["open"], leak["dataset"]) == ("error", True, "rows")
        assert leak["advice"]
        assert leak["count"] > 0
        assert {one["check"] for one in values["checked"]} >= {
            "rows on both sides, exactly",
            "scores recomputed from predictions",
            "canary: held-out labels scrambled",
            "determinism: cells run again",
            "completeness",
        }

    def test_acknowledgements_added_after_the_run_are_read_from_the_file_beside_the_store(
        self, paragone, leaky
    ):
        paragone("run", leaky, "--workers", "0", "--accept-leak", "all")
        leaky.write_text(with_known(leaky, *EVERYTHING).read_text())
        assert paragone("audit", leaky.with_suffix(".sqlite"), "--sample", "0", *QUICK).code == 0

    def test_a_file_elsewhere_can_be_named(self, paragone, leaky, tmp_path):
        paragone("run", leaky, "--workers", "0", "--accept-leak", "all")
        elsewhere = tmp_path / "far" / "moved.sqlite"
        elsewhere.parent.mkdir()
        leaky.with_suffix(".sqlite").rename(elsewhere)
        alone = paragone("audit", elsewhere, "--sample", "0", "--run-code")
        assert (
            "not checked: leaks, canary and determinism (they need the data): 1 of the datasets"
            " (rows.csv)" in alone.out
        )
        assert "PG101" not in alone.out
        assert "scores recomputed from predictions" in alone.out
        named = paragone("audit", elsewhere, "--sample", "0", "--declaration", leaky, *QUICK)
        assert "PG101 error: rows" in named.out

    def test_an_experiment_declared_in_python_says_what_it_needs(self, tmp_path):
        small_curve().run(tmp_path / "p.sqlite", workers=0).close()
        found = paragone.audit(tmp_path / "p.sqlite")
        assert ["declared in Python" in one.why for one in found.unchecked] == [True]
        assert not found.of("PG301")
        whole = paragone.audit(tmp_path / "p.sqlite", declaration=small_curve(), in_process=True)
        assert not whole.unchecked
        assert len(whole.checked) > len(found.checked)

    def test_open_results_can_be_audited(self, made_curve):
        with paragone.Results.open(made_curve / "curves.sqlite") as results:
            found = paragone.audit(results, canary="none", sample=0)
            assert results.experiments() == ["curves"], "the results stay open"
        assert any(one.check == "completeness" for one in found.checked)

    def test_another_declaration_is_refused(self, made_curve, leaky):
        with pytest.raises(
            InputError, match="declares 'leaky', the store's experiment is 'curves'"
        ):
            paragone.audit(made_curve / "curves.sqlite", declaration=leaky)

    def test_several_experiments_of_one_store_are_audited_one_by_one(self, tmp_path):
        for name in ("one", "two"):
            small_curve(name).run(tmp_path / "both.sqlite", workers=0).close()
        found = paragone.audit(tmp_path / "both.sqlite", canary="none", sample=0)
        assert [one.count for one in found.checked if one.check == "completeness"] == [2, 2]
        only = paragone.audit(tmp_path / "both.sqlite", experiment="two")
        assert [one.count for one in only.checked if one.check == "completeness"] == [2]

    def test_an_empty_store_is_refused(self, tmp_path):
        from paragone.lab.store import Store

        Store(tmp_path / "e.sqlite", create=True).close()
        with pytest.raises(InputError, match="nothing was planned yet"):
            paragone.audit(tmp_path / "e.sqlite")

    def test_progress_names_every_step_and_comes_to_its_end(self):
        said = []
        paragone.audit(
            crossval_experiments()["groups"],
            progress=lambda *step: said.append(step),
            in_process=True,
        )
        assert [number for _, number, _ in said] == list(range(len(said)))
        assert said[-1] == ("done", len(said) - 1, len(said) - 1)


class TestTheObject:
    def made(self) -> Audit:
        findings = (
            Finding("PG108", "two columns"),
            Finding("PG101", "three rows", dataset="<d>", examples=("a",)),
        )
        return Audit("lab", acknowledge(findings, [Acknowledgement("PG108", "padding")]))

    def test_the_worst_comes_first_and_the_frame_has_a_row_each(self):
        audit = self.made()
        assert [f.code for f in audit.findings] == ["PG101", "PG108"]
        assert audit.frame[["code", "severity", "reason"]].to_numpy().tolist() == [
            ["PG101", "error", ""],
            ["PG108", "note", "padding"],
        ]

    def test_it_shows_itself_as_text_and_in_a_notebook(self):
        audit = self.made()
        assert (
            repr(audit).splitlines()[0] == "Audit of lab: 1 open finding (1 error), 1 acknowledged"
        )
        html = audit._repr_html_()
        assert "&lt;d&gt;" in html
        assert "acknowledged: padding" in html

    def test_every_code_has_a_severity_a_title_and_advice(self):
        for code, entry in all_codes().items():
            assert code == entry.code
            assert entry.severity in ("error", "warning", "note")
            assert entry.title
            assert entry.advice

    def test_the_documentation_lists_every_code(self):
        page = (Path(__file__).parents[2] / "docs" / "howto-audit.md").read_text(encoding="utf-8")
        for code, entry in all_codes().items():
            assert f"| {code} | {entry.severity} | {entry.title} | {entry.advice} |" in page
