"""The file lists of the RTL (`*.f`): what they hold, in order.

A list names its sources relative to itself, so that `-F` works from any directory, and takes other lists in with `-F`.
"""

from pathlib import Path

from project import ROOT, fail


def entries(file_list: Path) -> list[Path]:
    """Sources of a list and of the lists in it, in order; a source that comes twice is there twice."""
    files = []
    for line in file_list.read_text().splitlines():
        words = line.split("//")[0].split()
        if words[:1] == ["-F"] and len(words) == 2:
            files += entries(file_list.parent / words[1])
        elif len(words) == 1 and words[0][0] not in "+-":
            files.append((file_list.parent / words[0]).resolve())
        elif words:
            fail(f"{_shown(file_list)}: {line.strip()!r}: a source, or -F and another list, is allowed")
    return files


def listed_files(file_list: Path) -> list[Path]:
    """`entries` that all exist."""
    files = entries(file_list)
    if missing := [_shown(path) for path in files if not path.is_file()]:
        fail(f"{_shown(file_list)} lists files that do not exist: {', '.join(missing)}")
    return files


def all_lists() -> list[Path]:
    """Every list of the project."""
    return sorted((ROOT / "rtl").glob("**/*.f"))


def _shown(path: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
