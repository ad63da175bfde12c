"""How the site is built: `make docs`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import paragone

project = "Paragone"
author = "The Paragone authors"
copyright = "The Paragone authors"
version = release = paragone.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "paragone_site",
]
exclude_patterns = ["extensions"]

# A word in single backquotes in a docstring is code.
default_role = "code"
nitpicky = True
# Protocols name the class of their arrangement, which is their own and has no page.
nitpick_ignore_regex = [
    ("py:class", r"paragone\.protocols\.\w+(\.\w+)?\.(Problem|Rows|Table)Arrangement")
]
# Types such as {"a", "b"} are meant to be copied.
smartquotes = False

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autodoc_typehints = "none"
autodoc_inherit_docstrings = False
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "Paragone"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
