"""Methods that leak: they are run by the audit, and looked at by nothing else."""

collect_ignore_glob = ["*.py"]
