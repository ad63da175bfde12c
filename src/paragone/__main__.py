"""``python -m paragone`` is the `paragone` command."""

from paragone.cli import main

if __name__ == "__main__":
    main()
