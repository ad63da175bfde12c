"""Tables as values, and the writers that turn them into text, Markdown, LaTeX, HTML and CSV."""
