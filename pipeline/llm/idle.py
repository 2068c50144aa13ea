"""An API that does nothing: what a program needs it for is seen where it fails then."""

from __future__ import annotations

# Runs before the imports of a program: what stands at a path does nothing, so that a program which needs it fails. What
# bears the same object under another name of the library goes with it; what cannot be replaced, such as a member of a
# compiled class, ends the program.
_WITHOUT = """\
def _without(path):
    import importlib, sys
    names = path.split(".")
    for depth in range(len(names) - 1, 0, -1):
        try:
            owner = importlib.import_module(".".join(names[:depth]))
        except ImportError:
            continue
        for name in names[depth:-1]:
            owner = getattr(owner, name)
        def gone(*arguments, **named):
            return None
        was = getattr(owner, names[-1])
        setattr(owner, names[-1], gone)
        for name, module in list(sys.modules.items()):
            for key, value in list(vars(module).items()) if name.partition(".")[0] == names[0] else ():
                if value is was and callable(was):
                    setattr(module, key, gone)
        return
_without({path!r})
"""


def doing_nothing(path: str) -> str:
    """Return code that is to run before a program, so that the API at a path does nothing and returns None."""
    return _WITHOUT.format(path=path)
