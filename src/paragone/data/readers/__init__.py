"""One reader per file format; each turns a path and options into a Dataset."""
