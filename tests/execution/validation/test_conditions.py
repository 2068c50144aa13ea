"""What is the same in every run, and what a repeat changes to find the flaky ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.core.vocabularies.running import Outcome, Variation
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import NoSandbox, Sandbox
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.running import run_cases

Run = Callable[..., Result]

FIXED = [
    "import time\nassert time.tzname == ('UTC', 'UTC') and time.localtime().tm_gmtoff == 0",
    "import locale\nassert locale.setlocale(locale.LC_ALL, '').startswith('C')",
    "import sys\nassert sys.getfilesystemencoding() == sys.stdout.encoding.lower() == 'utf-8'\nprint('ä')",
    "import os\nassert os.environ['PYTHONHASHSEED'] == '0' and os.environ['OMP_NUM_THREADS'] == '1'",
    "import random\nassert random.random() == 0.8444218515250481",
    "import os\nassert os.environ['MPLBACKEND'] == 'Agg' and os.path.expanduser('~') == os.getcwd()",
    "import getpass\nassert getpass.getuser() == 'sandbox'",
]


@pytest.mark.parametrize("code", FIXED, ids=[code.splitlines()[-1][:40] for code in FIXED])
def test_fixed(old_and_new: Environment, outcome_of: Run, code: str) -> None:
    result = outcome_of(old_and_new, code, repeats=1)
    assert result.outcome == Outcome.PASSED, (result.detail, result.output)


def test_libraries_with_random_numbers_of_their_own_are_seeded(
    installed: Environment, sandbox: Sandbox, rules: ValidationRules
) -> None:
    """Whether a case imports them or they were loaded before; the loader that sees to it leaves no trace."""
    torch = installed.site_packages / "torch.py"
    torch.write_text("import random\nown = random.Random()\nmanual_seed = own.seed\nrandom = own.random\n")
    code = "import torch\nassert torch.random() == 0.8444218515250481\nassert type(torch.__loader__).__name__ == type(torch.__spec__.loader).__name__ == 'SourceFileLoader'"
    cases = [Case(str(number), "", code, import_names=("torch",)) for number in range(3)]
    for process in ("fresh", "fork"):
        once = rules.model_copy(update={"process": process, "repeats": 1})
        assert [result.detail for result in run_cases(installed, cases, sandbox, once)] == [None] * 3
        twice = rules.model_copy(update={"process": process, "repeats": 2})
        assert [result.outcome for result in run_cases(installed, cases, sandbox, twice)] == [Outcome.FLAKY] * 3
    torch.unlink()


CLOCK = """
import datetime, time
class Mine(datetime.datetime): pass
now, day = time.time(), datetime.timedelta(days=1)
start = datetime.datetime(1970, 1, 1)
for read in (datetime.datetime.now, datetime.datetime.utcnow, datetime.datetime.today, Mine.now):
    assert abs((read() - start).total_seconds() - now) < 5, read
assert abs((datetime.datetime.now(datetime.timezone.utc).timestamp()) - now) < 5
assert datetime.date.today() == datetime.datetime.utcnow().date() and isinstance(Mine.now(), datetime.datetime)
assert abs(time.mktime(time.localtime()) - now) < 5 and abs(time.mktime(time.gmtime()) - now) < 5
assert time.strftime('%Y-%m-%d') == str(datetime.date.today()) and time.gmtime(0).tm_year == 1970
assert time.ctime()[-4:] == time.asctime()[-4:] == str(time.localtime().tm_year)
assert abs(time.clock_gettime(time.CLOCK_REALTIME) - now) < 5 and time.monotonic() < now
if hasattr(time, 'time_ns'): assert abs(time.time_ns() / 1e9 - now) < 5
import os
open('x', 'w').close()
late = now - os.stat('x').st_mtime > 100 * 86400
"""


def test_a_later_clock_is_told_by_all_that_reads_it(old_and_new: Environment, outcome_of: Run) -> None:
    late = outcome_of(old_and_new, CLOCK + "assert not late", vary=(Variation.CLOCK,), clock_shift_days=190)
    assert (late.outcome, late.repeats) == (Outcome.FLAKY, 2), late.detail
    assert str(late.detail).startswith("passed, then failed_assertion (190 days later)\nAssertionError")
    steady = outcome_of(old_and_new, CLOCK + "assert late in (True, False)", vary=(Variation.CLOCK,))
    assert (steady.outcome, steady.detail) == (Outcome.PASSED, None)


def test_tests_that_need_their_order_are_flaky(
    installed: Environment, sandbox: Sandbox, rules: ValidationRules
) -> None:
    test_file = "seen = []\ndef test_a(): seen.append(1)\ndef test_b(): assert seen\n"
    varied = rules.model_copy(update={"vary": (Variation.ORDER, Variation.HASH_SEED)})
    (result,) = run_cases(installed, [Case("case", "", "", test_file=test_file)], sandbox, varied)
    assert result.outcome == Outcome.FLAKY
    assert str(result.detail).startswith("passed, then failed_assertion (hash seed 1, tests backwards)\ntest_b: Assert")
    (steady,) = run_cases(installed, [Case("case", "", "", test_file=test_file)], sandbox, rules)
    assert steady.outcome == Outcome.PASSED


def test_a_wrong_environment_is_an_error_of_the_harness(
    installed: Environment, sandbox: Sandbox, rules: ValidationRules
) -> None:
    gone = replace(installed, python=installed.python.with_name("gone"))
    silent = replace(installed, python=Path("/bin/true"))
    for environment in (gone, silent):
        results = run_cases(environment, [Case(str(number), "", "x = 1") for number in range(3)], sandbox, rules)
        assert {result.outcome for result in results} == {Outcome.HARNESS_ERROR}
        assert "no answer, status" in str(results[0].detail)


def test_what_a_case_does_to_its_harness_is_its_own_doing(
    installed: Environment, sandbox: Sandbox, rules: ValidationRules
) -> None:
    once = rules.model_copy(update={"repeats": 1})
    case = Case("case", "", "import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(60)")
    for where in (sandbox, NoSandbox()):
        (result,) = run_cases(installed, [case], where, once)
        assert result.outcome == Outcome.SANDBOX_VIOLATION, result


def test_sets_have_another_order_in_each_repeat(environment: Environment, outcome_of: Run) -> None:
    code = "first = next(iter({'a', 'b', 'c', 'd', 'e', 'f'}))\nprint(first)\nassert hash('a') == %d"
    told = outcome_of(environment, "raise ValueError(hash('a'))", repeats=1).detail
    result = outcome_of(environment, code % int(str(told).split()[-1]), repeats=3)
    assert (result.outcome, result.repeats) == (Outcome.FLAKY, 2)


def test_what_is_certain_is_not_repeated(environment: Environment, outcome_of: Run) -> None:
    assert outcome_of(environment, "x = (", repeats=5).repeats == 1
    assert outcome_of(environment, "x = 1", repeats=5).repeats == 5
    assert outcome_of(environment, "assert False", repeats=3).repeats == 3
