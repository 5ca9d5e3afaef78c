"""How the manual is built: ``make docs``."""

import sys
from pathlib import Path

import likely

sys.path[:0] = [str(Path(__file__).parent / "_extensions"), str(Path(__file__).parent)]

import tree  # noqa: E402  (it lies beside this file)

tree.write()

project = "likely"
author = "the likely developers"
release = version = likely.__version__

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "markdown_pages",
    "mathml",
    "unicode_equations",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build/html", "gallery"]  # the gallery's pages are made in _build/gallery

html_theme = "furo"
html_title = "likely"
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_math_renderer = "mathml"
html_show_copyright = False
html_show_sourcelink = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say shapes and meanings
autodoc_default_options = {  # scikit-learn writes these for every estimator
    "exclude-members": "get_metadata_routing, set_fit_request, set_partial_fit_request, "
    "set_score_request, set_transform_request, set_predict_request, set_predict_proba_request, "
    "set_predict_log_proba_request, set_decision_function_request"
}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
suppress_warnings = ["ref.python"]  # several models have attributes of one name, as weights_

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "_build/gallery",
    "filename_pattern": "plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,
    "download_all_examples": False,
}
