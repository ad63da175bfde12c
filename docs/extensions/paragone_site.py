"""The site's own Sphinx extension: writes the reference pages before a build, and finds names by their public path."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import command_line
import experiment_file
import python_reference
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from public_names import homes, public_modules
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

FOLDER = "reference"


def write_reference(app: Sphinx) -> None:
    """Write every generated page that changed; pages of what is gone are taken away."""
    folder = Path(app.srcdir) / FOLDER
    wanted = {f"{module}.rst": python_reference.page(module) for module in public_modules()}
    wanted["command-line.md"] = command_line.page()
    wanted["experiment-file.md"] = experiment_file.page()
    # Included by the page of the reference; not a page by itself.
    wanted["packages.inc"] = python_reference.overview(public_modules())
    for old in set(folder.glob("*.rst")) - {folder / name for name in wanted}:
        old.unlink()
    for name, text in wanted.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def find_public(app: Sphinx, env: Any, node: Any, content: nodes.Node) -> nodes.Node | None:
    """Resolve a Python name that is written by its short name or by the module that defines it."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    domain = env.get_domain("py")
    for path in app.config.paragone_paths.get(target.rpartition(".")[2], ()):
        if path in domain.objects and (
            target == path.rpartition(".")[2] or target.startswith("paragone.")
        ):
            entry = domain.objects[path]
            return make_refnode(
                app.builder, node["refdoc"], entry.docname, entry.node_id, content, path
            )
    return None


def collect_paths(app: Sphinx) -> None:
    """Remember the public paths of every last name."""
    paths: dict[str, list[str]] = {}
    for public in homes().values():
        paths.setdefault(public.name, []).append(public.path)
    app.config.paragone_paths = paths


def leave_out(
    app: Sphinx, what: str, name: str, value: object, skip: bool, options: object
) -> bool | None:
    """Leave out what scikit-learn adds to every estimator for the routing of metadata."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


ATTRIBUTES = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="This page">'),
    # What is wider than a phone is scrolled by keys too.
    ('<div class="highlight"><pre>', '<div class="highlight"><pre tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
)
"""What the theme leaves out and a screen reader or a keyboard needs."""


def accessible(html: str) -> str:
    """Return a page of the site with the attributes that its theme leaves out, and a first heading.

    Examples
    --------
    >>> accessible('<aside class="toc-drawer">')
    '<aside class="toc-drawer" aria-label="This page">'
    """
    for without, with_them in ATTRIBUTES:
        html = html.replace(without, with_them)
    if "<h1" not in html:
        html = re.sub(r'(<article role="main"[^>]*>)', r"\1<h1>Search</h1>", html, count=1)
    return html


def mend_pages(app: Sphinx, error: Exception | None) -> None:
    """Make every written page accessible."""
    if error is None and app.builder.format == "html":
        for file in Path(app.outdir).rglob("*.html"):
            text = file.read_text(encoding="utf-8")
            mended = accessible(text)
            if mended != text:
                file.write_text(mended, encoding="utf-8")


def write_formula(self: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers draw without a script from elsewhere."""
    self.body.append(tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block)))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect them."""
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.add_config_value("paragone_paths", {}, "", [dict])
    app.connect("builder-inited", collect_paths)
    app.connect("builder-inited", write_reference)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("missing-reference", find_public)
    app.connect("build-finished", mend_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
