"""Programs that need more than the sandbox has, and programs that only look like it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.corpus.own_tests.needs import refuse_unmet
from pipeline.corpus.own_tests.refusal import Refused
from tests.corpus.own_tests.suites import RULE, refusal_of

FILES, NETWORK = RejectReason.NEEDS_FILES, RejectReason.NEEDS_NETWORK
FLASK = "import os\nfrom flask import Flask, render_template\napp = Flask('a', root_path=os.path.dirname(__file__))\n"

UNMET: dict[str, tuple[str, RejectReason]] = {
    "a file beside the test": (
        "from pathlib import Path\npath = Path(__file__).parent / 'metadata' / 'all.metadata'\nassert path.read_text()",
        FILES,
    ),
    "a file that is opened": ("import os\nassert open(os.path.join(os.path.dirname(__file__), 'a.txt')).read()", FILES),
    "the test itself": ("text = open(__file__).read()", FILES),
    "a path that a function gives": (
        "import os\ndef data(name):\n    return os.path.join(HERE, name)\nHERE = os.path.dirname(__file__)\n"
        "assert demo.parse(data('a.xml'))",
        FILES,
    ),
    "a path in an f-string": ("import os\nHERE = os.path.dirname(__file__)\ndemo.parse(f'{HERE}/a.xml')", FILES),
    "one of several paths": (
        "from pathlib import Path\nHERE = Path(__file__).parent\ndemo.merge([HERE.joinpath(n) for n in ('a', 'b')])",
        FILES,
    ),
    "a path that is added": ("HERE = __file__[:-9]\ndemo.parse(HERE + 'data/a.xml')", FILES),
    "a keyword": ("from pathlib import Path\ndemo.make(folder=Path(__file__, '..', 'data').resolve())", FILES),
    "an attribute": ("import os\napp = demo.App()\napp.root = os.path.join(os.path.dirname(__file__), 'apps')", FILES),
    "a path that other code gets": ("from pathlib import Path\ndemo.check(Path(__file__).parent / 'musl')", FILES),
    "the folder of the test, to read": ("import os\nassert os.listdir(os.path.dirname(__file__))", FILES),
    "a relative path": ("assert open('tests/data/a.txt').read()", FILES),
    "a relative path with a name": ("NAME = 'tests/a.txt'\nassert open(NAME).read()", FILES),
    "a relative path of pathlib": ("from pathlib import Path\nassert Path('tests/a.txt').read_text()", FILES),
    "a relative path that is read twice": ("assert open('a.txt').read() == open('a.txt').read()", FILES),
    "a template": (f"{FLASK}assert render_template('a.html') == 'a'", FILES),
    "one of several templates": (f"{FLASK}assert render_template(['a.html', 'b.html']) == 'a'", FILES),
    "a template whose name is compared": (f"{FLASK}assert t.name == 'a.html'\nrender_template('a.html')", FILES),
    "data of the package": ("import pkgutil\nassert pkgutil.get_data(__package__, 'a.txt')", FILES),
    "a URL": ("from urllib.request import urlopen\nassert urlopen('https://example.com/a').read()", NETWORK),
    "a URL in a request": (
        "import urllib.request as u\nassert u.urlopen(u.Request('https://example.com'), timeout=3).read()",
        NETWORK,
    ),
    "a URL with a name": ("import requests\nURL = 'http://example.com'\nassert requests.get(url=URL).ok", NETWORK),
    "a URL that is completed": ("import requests\nassert requests.get(f'http://example.com/{name}').ok", NETWORK),
    "a method first": ("import httpx\nassert httpx.request('GET', 'http://example.com').text", NETWORK),
    "a socket": ("import socket\ns = socket.socket()\ns.connect(('example.com', 80))", NETWORK),
    "an address": ("import socket\nassert socket.create_connection(('93.184.215.14', 80))", NETWORK),
    "a look-up": ("import socket\nassert socket.gethostbyname('example.com')", NETWORK),
    "a host with its port": ("import http.client as c\nassert c.HTTPSConnection('example.com:443')", NETWORK),
    "a window": ("import tkinter as tk\nassert tk.Tk()", RejectReason.NEEDS_DISPLAY),
    "the display": ("import os\nif 'DISPLAY' in os.environ:\n    assert demo.show()", RejectReason.NEEDS_DISPLAY),
    "another owner": ("import os\nos.chown('/tmp/a', 0, 0)\nassert demo.owner('/tmp/a')", RejectReason.NEEDS_ROOT),
    "the user": ("from os import geteuid\nassert demo.may_write() == (geteuid() == 0)", RejectReason.NEEDS_ROOT),
    "an annotated name": (
        "from pathlib import Path\nDATA: Path = Path(__file__).parent / 'data'\nassert demo.take(DATA)",
        FILES,
    ),
    "a name in an expression": (
        "from pathlib import Path\nassert demo.take(data := Path(__file__).parent / 'data') and demo.use(data)",
        FILES,
    ),
    "an attribute of a class": (
        "from pathlib import Path\nclass TestIt:\n    DATA = Path(__file__).parent / 'data'\n"
        "    def test(self):\n        assert demo.take(self.DATA)",
        FILES,
    ),
    "an annotated attribute of a class": (
        "from pathlib import Path\nclass TestIt:\n    DATA: Path = Path(__file__).parent / 'data'\n"
        "    def test(self):\n        assert demo.take(self.DATA)",
        FILES,
    ),
    "a file that is not empty": ("assert not open('a.txt').read()", FILES),
    "a file that has to be": ("from pathlib import Path\nassert Path('a.txt').exists()", FILES),
    "a relative path of pathlib twice": (
        "from pathlib import Path\nassert Path('a.txt').read_text() == Path('a.txt').read_text()",
        FILES,
    ),
    "a relative path written in two ways": ("assert open('a.txt').read() == open('./a.txt').read()", FILES),
    "a text that is no mode": ("import flask\nassert flask.send_file('a.txt', 'text/xml')", FILES),
    "a compressed archive": ("import tarfile\nassert tarfile.open('a.tar.xz', 'r:xz')", FILES),
    "a method of a name that mocks have": (
        "import requests\nassert demo.client.patch('/a')\nassert requests.get('https://example.com').ok",
        NETWORK,
    ),
    "a method of HTTP": ("import requests\nrequests.patch('/a')\nrequests.get('https://example.com')", NETWORK),
    "a sleep that is awaited beside a time-out": (
        "import asyncio\nasync def wait():\n    await asyncio.sleep(60)\nasync def f():\n    await wait()\n"
        "    await asyncio.wait_for(wait(), 1)\nassert f",
        RejectReason.TOO_SLOW,
    ),
    "another function that is patched": (
        "import time\nfrom unittest import mock\nmock.patch('demo.sleep')\ntime.sleep(60)\nassert demo",
        RejectReason.TOO_SLOW,
    ),
    "a long sleep": ("import time\ntime.sleep(60)\nassert demo.done()", RejectReason.TOO_SLOW),
    "many sleeps": (
        "import asyncio, time\nPAUSE = 3\ntime.sleep(PAUSE)\nasync def f():\n    await asyncio.sleep(2.5)\nassert f",
        RejectReason.TOO_SLOW,
    ),
}

MET: dict[str, str] = {
    "the folder of the test": f"{FLASK}assert app.root_path",
    "a path that is compared": "import os\nassert demo.path() == os.path.join(os.path.dirname(__file__), 'instance')",
    "a path that is printed": "import os\nprint(len(os.path.join(os.path.dirname(__file__), 'a')))",
    "the name of the test": "import os\nassert demo.title(os.path.basename(__file__))",
    "a client's method": "client = demo.client(__name__)\nassert client.open('/').status == 200",
    "a file that the program writes": "with open('a.txt', 'w') as f:\n    f.write('a')\nassert open('a.txt').read()",
    "a file by a keyword": "open('a.txt', mode='w').close()\nassert demo.load('a.txt')",
    "a file of another folder": "def test(monkeypatch, tmp_path):\n    monkeypatch.chdir(tmp_path)\n    open('a').read()",
    "a file that must be missing": "try:\n    open('a.txt')\nexcept FileNotFoundError:\n    assert True",
    "a file of the system": "assert open('/dev/null').read() == ''",
    "a path of another program": "from pathlib import Path\nassert demo.suffix(Path('a.txt')) == 'txt'",
    "a template of the program": f"{FLASK}app.jinja_loader = DictLoader({{'a.html': 'a'}})\nrender_template('a.html')",
    "loopback": "import requests\nassert requests.get('http://localhost:8080/a').ok",
    "loopback by address": "import socket\nassert socket.create_connection(('127.0.0.1', port))",
    "a service of loopback": "import socket\nassert socket.getaddrinfo('localhost', 'http')",
    "no URL": "import requests\nrequests.get('http://[', ('example.com', 80))",
    "any address": "import socket\nsocket.getaddrinfo('::', 80)",
    "a server of the test": "from urllib.request import urlopen\nassert urlopen(f'http://{server.host}/a').read()",
    "answers of a mock": "import requests, responses\nassert requests.get('http://example.com').ok",
    "a database": "import sqlite3\nassert sqlite3.connect('a.db')",
    "a URL that is parsed": "from urllib.parse import urlsplit\nassert urlsplit('http://example.com').port is None",
    "a file that must not exist": "from pathlib import Path\nassert not Path('a.txt').exists()",
    "a file that comes": "from pathlib import Path\nassert not Path('a').exists()\ndemo.run()\nassert open('a').read()",
    "a path below the suite that must not exist": (
        "from pathlib import Path\nassert not Path(__file__).parent.joinpath('a').is_file()"
    ),
    "a file that is written by its name": "name = 'a.csv'\nopen(name, 'w').close()\nassert open(name).read() == ''",
    "a file that other code writes by its name": "name = 'a.csv'\ndf.to_csv(name)\nassert open(name).read()",
    "a path that is written in two ways": "df.to_csv('a.csv')\nassert open('./a.csv').read()",
    "a mode that is not stated": "open('a.txt', mode=demo.mode).close()",
    "a path that is opened to write": "from pathlib import Path\nwith Path('a').open('w') as f:\n    f.write('a')",
    "a transport of a mock": (
        "import httpx, requests\nt = httpx.MockTransport(demo.answer)\nassert requests.get('http://example.com').ok"
    ),
    "a patch of a module": (
        "import unittest.mock, requests\nunittest.mock.patch('requests.get')\nrequests.get('http://example.com')"
    ),
    "a sleep that is cut short": "import asyncio\nasync def f():\n    await asyncio.wait_for(asyncio.sleep(60), 1)",
    "a sleep in a block that ends": (
        "import asyncio\nasync def f():\n    async with asyncio.timeout(1):\n        await asyncio.sleep(60)"
    ),
    "a sleep of a task": "import asyncio\nasync def f():\n    asyncio.create_task(asyncio.sleep(60)).cancel()",
    "a sleep of a function that is cut short": (
        "import asyncio\nasync def wait():\n    await asyncio.sleep(60)\nasync def f():\n"
        "    await asyncio.wait_for(wait(), 1)"
    ),
    "a sleep that is replaced": (
        "import time\ndef test(monkeypatch):\n    monkeypatch.setattr(time, 'sleep', print)\n    time.sleep(60)"
    ),
    "a sleep that is replaced by its path": (
        "import time\ndef test(monkeypatch):\n    monkeypatch.setattr('time.sleep', print)\n    time.sleep(60)"
    ),
    "a sleep that is patched": (
        "import time\nfrom unittest import mock\n@mock.patch('time.sleep')\ndef test(_):\n    time.sleep(60)"
    ),
    "a sleep of a module that is patched": (
        "import time\nfrom unittest.mock import patch\nwith patch.object(demo.time, 'sleep'):\n    time.sleep(60)"
    ),
    "a short sleep": "import time\ntime.sleep(1)\nassert demo.done()",
    "a wait that is not stated": "import time\ntime.sleep(wait)\nassert demo.done()",
}


@pytest.mark.parametrize("name", UNMET)
def test_a_program_that_needs_more_than_the_sandbox_has_is_refused(name: str) -> None:
    text, reason = UNMET[name]
    with pytest.raises(Refused) as raised:
        refuse_unmet(text, RULE.needs)
    assert raised.value.reason is reason


@pytest.mark.parametrize("name", MET)
def test_a_program_that_has_what_it_needs_is_none_of_them(name: str) -> None:
    refuse_unmet(MET[name], RULE.needs)


LONG: dict[str, str] = {
    "a chain of calls": "demo.take()" + ".then(x)" * 40,
    "a chain of a path": "from pathlib import Path\npath = Path(__file__)" + ".then(x)" * 40,
    "many operands": "path = __file__ + " + " + ".join(f"part_{number}" for number in range(60)),
    "calls in calls": "path = " + "demo.take(" * 40 + "__file__" + ")" * 40,
}


@pytest.mark.parametrize("name", LONG)
def test_each_expression_is_followed_once(name: str) -> None:
    """Each doubling of the time for one more part would take longer than anybody waits."""
    script = "import sys\nfrom tests.corpus.own_tests.suites import RULE\n"
    script += "from pipeline.corpus.own_tests.needs import refuse_unmet\nrefuse_unmet(sys.argv[1], RULE.needs)\n"
    assert subprocess.run([sys.executable, "-c", script, LONG[name]], timeout=60).returncode == 0


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import os, pytest\n@pytest.fixture\ndef folder():\n    return os.path.join(os.path.dirname(__file__), 'data')\n"
         "def test_it(folder):\n    assert demo.load(folder)\n", FILES),
        ("def test_it(shared_datadir):\n    assert demo.load(shared_datadir)\n", FILES),
        ("import pytest\n@pytest.mark.requires_root\ndef test_it():\n    assert demo\n", RejectReason.NEEDS_ROOT),
        ("import pytest\n@pytest.mark.gui\ndef test_it():\n    assert demo\n", RejectReason.NEEDS_DISPLAY),
        ("import os, pytest\n@pytest.mark.skipif(os.geteuid() != 0, reason='root')\ndef test_it():\n    assert demo\n",
         RejectReason.NEEDS_ROOT),
    ],
)  # fmt: skip
def test_a_test_is_refused_by_its_program_marks_and_fixtures(source: str, reason: RejectReason) -> None:
    assert refusal_of({"tests/test_a.py": f"import demo\n{source}"}).reason is reason
