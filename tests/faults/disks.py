"""Small disks that can be filled, made read-only or taken away; making them needs root."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NEEDS_ROOT = "making small disks needs root: run as root to have it tried"


@contextmanager
def memory_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Mount a small disk in memory."""
    folder.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True
    )
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def fill(disk: Path) -> Path:
    """Write a file until the disk is full to the last byte, and return it."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1 << 8, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    return filler


class LoopDisk:
    """A disk in a file, with a real file system that turns read-only at once, as after an error of the hardware."""

    def __init__(self, folder: Path, megabytes: int = 16) -> None:
        self.path = folder / "disk"
        self._image = folder / "image"
        self.path.mkdir()
        with self._image.open("wb") as file:
            file.truncate(megabytes << 20)
        subprocess.run(["mkfs.ext4", "-q", self._image], check=True)

    def mount(self, *options: str) -> None:
        """Attach the disk."""
        subprocess.run(
            ["mount", "-o", ",".join(("loop", *options)), self._image, self.path], check=True
        )

    def flush(self) -> None:
        """Bring everything that was written to the disk."""
        subprocess.run(["sync", "--file-system", self.path], check=True)

    def turn_read_only(self) -> None:
        """Refuse every write from now on, also to files that are open; what is not on the disk yet is lost."""
        subprocess.run(["mount", "-o", "remount,abort", self.path], check=True, capture_output=True)

    def unmount(self) -> None:
        """Detach the disk, if it is there."""
        if os.path.ismount(self.path):
            subprocess.run(["umount", self.path], check=True)
