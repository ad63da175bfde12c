"""``python -m paragone`` is the `paragone` command."""

import os
import sys

# Python puts the working folder first on the path here, where a module beside a stranger's store
# would be found before the installed one. The `paragone` command does not have it there either.
if not sys.flags.safe_path and sys.path and sys.path[0] == os.getcwd():
    del sys.path[0]

from paragone.cli import main

main()
