"""The machine under this process: which kernel, which process table, and whether a folder is shared with other hosts.

A process id means something only beside the process table that it stands in. A host's name does not
name that table: a container may have the name of its host and other processes, and after a restart
the same ids are given out again.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SHARED = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "lustre",
        "gpfs",
        "beegfs",
        "ceph",
        "glusterfs",
        "afs",
        "panfs",
        "wekafs",
        "orangefs",
        "pvfs2",
        "ocfs2",
        "gfs2",
        "9p",
        "virtiofs",
        "vboxsf",
        "vmhgfs",
        "prl_fs",
        "ncpfs",
        "coda",
        "davfs",
        "fuse",
    }
)
"""Types of file systems that more than one kernel may have mounted at a time."""
LOCAL_FUSE = frozenset(
    {"fuse.fuse-overlayfs", "fuse.gocryptfs", "fuse.encfs", "fuse.ntfs-3g", "fuse.mergerfs"}
)
"""File systems in user space that lie on this machine's own disks."""
DRIVE_REMOTE = 4
MOUNTED = re.compile(r".* on (?P<place>/.*) \((?P<options>[^()]*)\)")
ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class FileSystem:
    """The file system that a path lies on: its type, where it is mounted, and whether other hosts may have it too."""

    type: str
    mounted_at: str
    is_shared: bool


def file_system(path: str | Path) -> FileSystem:
    """Return the file system of a path, which need not exist yet; one that the system does not tell counts as local.

    Examples
    --------
    >>> file_system("/proc/self").type if sys.platform == "linux" else "proc"
    'proc'
    """
    place = os.path.realpath(path)
    if sys.platform == "win32":
        return _windows_drive(place)
    if sys.platform.startswith("linux"):
        mounts = _linux_mounts()
    else:
        mounts = mounts_listed(_output_of_mount())
    found = [mount for mount in mounts if _lies_under(place, mount.mounted_at)]
    # The last of those mounted at the same place hides the others.
    return max(
        reversed(found), key=lambda mount: len(mount.mounted_at), default=FileSystem("", "/", False)
    )


def _lies_under(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip("/") + "/")


def _linux_mounts() -> list[FileSystem]:
    try:
        text = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    return mounts_of(text)


def mounts_of(text: str) -> list[FileSystem]:
    r"""Read what Linux says of its mounts (``/proc/self/mountinfo``), the later above the earlier.

    Examples
    --------
    >>> mounts_of(r"36 25 0:45 / /home/my\040lab rw,relatime shared:1 - nfs4 server:/home rw,vers=4.2")
    [FileSystem(type='nfs4', mounted_at='/home/my lab', is_shared=True)]
    """
    found = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        words, kind = before.split(), after.split(maxsplit=1)
        if len(words) > 4 and kind:
            place = ESCAPE.sub(lambda digits: chr(int(digits[1], 8)), words[4])
            found.append(FileSystem(kind[0], place, is_shared_type(kind[0])))
    return found


def is_shared_type(kind: str) -> bool:
    """Tell whether file systems of a type may be mounted by several hosts; of user space, all that are not known.

    Examples
    --------
    >>> [is_shared_type(kind) for kind in ("ext4", "nfs4", "fuse.sshfs", "fuse.gocryptfs", "fuseblk")]
    [False, True, True, False, False]
    """
    return kind in SHARED or (kind.startswith("fuse.") and kind not in LOCAL_FUSE)


def _output_of_mount() -> str:
    try:
        return subprocess.run(
            ["mount"],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def mounts_listed(text: str) -> list[FileSystem]:
    """Read what ``mount`` prints on macOS and the BSDs, where what is on this machine's own disks is called local.

    Examples
    --------
    >>> for mount in mounts_listed("/dev/disk3s1 on / (apfs, sealed, local)" + chr(10) + "h:/x on /Volumes/x (nfs)"):
    ...     print(mount.mounted_at, mount.is_shared)
    / False
    /Volumes/x True
    """
    found = []
    for match in filter(None, map(MOUNTED.fullmatch, text.splitlines())):
        kind, *options = match["options"].split(", ")
        found.append(FileSystem(kind, match["place"], "local" not in options))
    return found


def _windows_drive(place: str) -> FileSystem:
    root = os.path.splitdrive(place)[0] + "\\"
    kind = ctypes.windll.kernel32.GetDriveTypeW(root)  # type: ignore[attr-defined,unused-ignore]
    return FileSystem(
        "network drive" if kind == DRIVE_REMOTE else "drive", root, kind == DRIVE_REMOTE
    )


@cache
def boot() -> str:
    """Return what the kernel calls the time since it was started; empty where it does not tell.

    Examples
    --------
    >>> boot() == boot()
    True
    """
    return _first_line("/proc/sys/kernel/random/boot_id")


def process_table() -> str:
    """Name the process table in which the ids of this process are counted: start of the kernel, and namespace.

    Returns
    -------
    str
        Empty where the system does not tell.

    Examples
    --------
    >>> process_table().startswith(boot())
    True
    """
    try:
        return f"{boot()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").split("\n", 1)[0]
    except OSError:
        return ""


def process_start(process: int) -> str:
    """Return when a process of this process table began, in the kernel's ticks.

    Returns
    -------
    str
        ``"gone"`` for one that has ended; empty where the system does not tell.

    Examples
    --------
    >>> process_start(os.getpid()) != "gone", process_start(2**22 + 7) in ("gone", "")
    (True, True)
    """
    if not sys.platform.startswith("linux"):
        return ""
    stat = _first_line(f"/proc/{process}/stat")
    state_onwards = stat.rpartition(")")[2].split()
    return "gone" if not state_onwards or state_onwards[0] == "Z" else state_onwards[19]
