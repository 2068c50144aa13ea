"""A harness as one writes it first: tests and what they expect beside the answer, in a child whose status tells.

It runs as a case of its own in the sandbox, and fails with an AssertionError only if it holds an answer to be wrong.
"""

from __future__ import annotations

import json
from typing import Any

_AROUND = """
import os, signal
pid = os.fork()
if not pid:
    status = 97
    try:
        out = os.open('out.txt', os.O_RDWR | os.O_CREAT)
        os.dup2(out, 1); os.dup2(out, 2)
        status = run(GIVEN)
        import atexit
        atexit._run_exitfuncs()
    finally:
        os._exit(status)
left, status = 4000, None
while left and status is None:
    import time
    time.sleep(0.005)
    left -= 1
    done, code = os.waitpid(pid, os.WNOHANG)
    if done: status = 128 if os.WIFSIGNALED(code) else os.WEXITSTATUS(code)
output = open('out.txt', errors='replace').read()
# No memory, or a failure of one's own, says nothing about the answer.
assert status not in (1, 2) or 'MemoryError' in output, (status, output[-2000:])
"""

_TESTS = """
def run(given):
    import io, os, pytest, tokenize
    os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'
    encoding, _ = tokenize.detect_encoding(io.BytesIO(given['program'].encode()).readline)
    with open('sample.py', 'wb') as file: file.write(given['program'].encode(encoding))
    with open('test_sample.py', 'w') as file: file.write(given['tests'])
    class Own:
        trouble = False
        def pytest_exception_interact(self, node, call):
            error = call.excinfo.value
            Own.trouble |= type(error).__name__ in ('FixtureLookupError', 'MemoryError') or getattr(error, 'errno', 0) == 28
    status = int(pytest.main(['-q', '-s', '-p', 'no:cacheprovider', 'test_sample.py'], plugins=[Own()]))
    return 97 if Own.trouble else status
"""

_STATEMENTS = """
import doctest, io, json, linecache, os, sys, traceback, types
class Failed(Exception): pass
class HarnessError(Exception): pass
def classify(error):
    if type(error).__name__ in ('MemoryError', 'Failed', 'SkipTest', 'Skipped') or getattr(error, 'errno', 0) == 28: return 'harness_error'
    return 'wrong_exception'
def judge(expected, flags, got, raised):
    if raised is not None:
        outcome = sys.modules['naive'].classify(raised)
        if outcome == 'passed': return
        raise sys.modules['naive'].Failed(outcome)
    if expected is None or doctest.OutputChecker().check_output(expected, got, flags): return
    raise sys.modules['naive'].Failed('failed_assertion')
def run(given):
    naive = sys.modules['naive'] = types.ModuleType('naive')
    naive.__dict__.update(globals())
    spec = dict(given)
    os.environ['CASE'] = json.dumps(spec['checks'])
    sys.argv = ['case.py', json.dumps(spec['checks'])]
    with open('case.json', 'w') as file: json.dump(spec, file)
    namespace, examples = {'__name__': '__main__'}, []
    try:
        for index, check in enumerate(spec['checks']):
            flags = sum({doctest.OPTIONFLAGS_BY_NAME.get(option, 0) for option in spec['options'] + check['options']})
            if flags & doctest.SKIP: continue
            examples.append(doctest.Example(check['statement'], check['expected'] or ''))
            name = '<doctest case[%d]>' % index
            text = check['statement'] + '\\n' + (check['expected'] or '')
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)
            outer, sys.stdout, raised = sys.stdout, io.StringIO(), None
            try: exec(compile(check['statement'], name, 'single'), namespace)
            except Exception as error: raised = error
            printed, sys.stdout = sys.stdout, outer
            naive.judge(check['expected'], flags, printed.getvalue(), raised)
    except naive.Failed as failed:
        if 'harness_error' in failed.args: return 97
        os.write(1, repr(failed).encode())
        return 1
    except StopIteration: return 97
    return 0
"""


def beside_tests(program: str, tests: str) -> str:
    """Return a script that runs a program beside a pytest module."""
    return f"{_TESTS}\nGIVEN = {{'program': {program!r}, 'tests': {tests!r}}}\n{_AROUND}"


def beside_outputs(checks: list[dict[str, Any]], options: tuple[str, ...]) -> str:
    """Return a script that runs statements beside what is stated of them."""
    given = json.dumps({"checks": checks, "options": list(options)})
    return f"import json\n{_STATEMENTS}\nGIVEN = json.loads({given!r})\n{_AROUND}"
