"""Lays out a project's tree in the scratch folder, so that it is what is imported."""

import base64
import os
import sys
import tarfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EXCLUDED = ("__pycache__", "tests", "test")


def lay_out(spec: "dict[str, Any]") -> str:
    """Unpack the tree beside its replacements and link what only a build makes; return the folder.

    The guard calls it, as a user that the case never is: the case can read all of the tree and change nothing of it,
    nor add a file anywhere. Tests that write beside themselves fail so also as they are, and are no one's tests.
    """
    folder = place_of(spec)
    mask = os.umask(0o022)
    os.mkdir(folder)
    for path, content in spec["replacements"].items():
        place = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(base64.b64decode(content))
    # Tests come after the answer, which the archive does not have.
    with tarfile.open(spec["archive"]) as archive:
        archive.extractall(folder)  # noqa: S202 - we packed it ourselves, of files that the guarded reader took
    root = import_root(spec, folder)
    for package in spec["packages"]:
        complete(os.path.join(root, package), os.path.join(spec["site_packages"], package))
    os.umask(mask)
    return folder


def place_of(spec: "dict[str, Any]") -> str:
    """Return the folder in which the tree lies."""
    return os.path.join(os.path.dirname(os.path.abspath(spec["archive"])), "project")


def import_root(spec: "dict[str, Any]", folder: str) -> str:
    """Return the folder from which packages of the project are imported."""
    return os.path.join(folder, spec["import_root"]) if spec["import_root"] else folder


def enter(spec: "dict[str, Any]") -> str:
    """Go to the tree and put it first on the path; return its folder."""
    folder = place_of(spec)
    root = import_root(spec, folder)
    forget(spec["packages"])
    os.chdir(folder)
    sys.path[0] = root
    if root != folder:
        sys.path.insert(1, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys((root, folder)))
    return folder


def forget(packages: "list[str]") -> None:
    """Have the project itself be imported, also where pytest has loaded what is installed of it, as `packaging`."""
    for name in list(sys.modules):
        if name.split(".")[0] in packages:
            del sys.modules[name]


def complete(package: str, installed: str) -> None:
    """Link into a package what only its build makes: compiled modules, generated versions and data."""
    if not os.path.isdir(package) or not os.path.isdir(installed):
        return
    for name in sorted(os.listdir(installed)):
        here, there = os.path.join(package, name), os.path.join(installed, name)
        if name in _EXCLUDED:
            continue
        if os.path.isdir(there) and os.path.isdir(here):
            complete(here, there)
        elif not os.path.lexists(here):
            os.symlink(there, here)
