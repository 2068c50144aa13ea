"""Lets a process live at a later time, as one of the things that a repeat changes."""

import ctypes
import datetime
import gc
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def shift_clock(seconds: int) -> None:
    """Let `time` and `datetime` tell a later time than the kernel does; their classes stay what they are.

    What reads the clock elsewhere (compiled code, time stamps of files, other programs) still sees the true time.
    """
    _shift_time(seconds)
    for name in ("now", "utcnow"):
        _replace(datetime.datetime, name, _later(vars(datetime.datetime)[name], datetime.timedelta(seconds=seconds)))


def _shift_time(seconds: int) -> None:
    """Replace what reads the clock in `time`, or does if it is given no time; `date.today` asks `time` too."""
    now, now_of, later = time.time, time.clock_gettime, {}  # type: Any, Any, dict[str, Any]
    later["time"] = lambda: now() + seconds
    later["clock_gettime"] = lambda clock: now_of(clock) + (seconds if clock == time.CLOCK_REALTIME else 0)
    if hasattr(time, "time_ns"):  # Python 3.7
        now_ns, now_of_ns, ns = time.time_ns, time.clock_gettime_ns, seconds * 10**9
        later["time_ns"] = lambda: now_ns() + ns
        later["clock_gettime_ns"] = lambda clock: now_of_ns(clock) + (ns if clock == time.CLOCK_REALTIME else 0)
    gmtime, localtime, ctime, asctime, strftime = time.gmtime, time.localtime, time.ctime, time.asctime, time.strftime
    later["gmtime"] = lambda secs=None: gmtime(now() + seconds if secs is None else secs)
    later["localtime"] = lambda secs=None: localtime(now() + seconds if secs is None else secs)
    later["ctime"] = lambda secs=None: ctime(now() + seconds if secs is None else secs)
    later["asctime"] = lambda t=None: asctime(later["localtime"]() if t is None else t)
    later["strftime"] = lambda form, t=None: strftime(form, later["localtime"]() if t is None else t)
    vars(time).update(later)


def _later(method: "Any", by: datetime.timedelta) -> "Any":
    return lambda cls, *args, **kwargs: method.__get__(None, cls)(*args, **kwargs) + by


def _replace(owner: type, name: str, function: "Any") -> None:
    """Put a class method into a class written in C, whose dictionary can only be reached around its proxy."""
    gc.get_referents(vars(owner))[0][name] = classmethod(function)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))
