"""The review page in a real Airflow: its entry, its users, and their permissions. What Airflow calls internal is used
there, so that a new release of it has to pass here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pipeline.core.settings import PROJECT
from pipeline.quality.annotation.web import plugin
from tests.quality.annotation.web.demo_queue import fill_demo, store_at

# One process, since Airflow reads its settings as it is imported.
ASK = """
import json, re, sys
from airflow.utils.db import initdb
initdb()
from airflow.api_fastapi.app import create_app, get_auth_manager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from fastapi.testclient import TestClient

sample, prefix = sys.argv[1:]
app = create_app(apps="core")
told = {}
for name, role in [("nobody", None), ("vera", "VIEWER"), ("ulla", "USER"), ("anna", "ADMIN")]:
    client = TestClient(app, base_url="http://review.example")
    if role:
        user = SimpleAuthManagerUser(username=name, role=role)
        client.cookies.set("_token", get_auth_manager().generate_jwt(user))
    page = client.get(f"{prefix}/samples/{sample}")
    token = re.search('driftline-token" content="([^"]*)', page.text)
    told[name] = {"look": page.status_code, "who": name in page.text, "buttons": 'id="accept"' in page.text}
    headers = {"origin": "http://review.example", "x-driftline-token": token[1] if token else ""}
    path = f"{prefix}/samples/{sample}/decisions"
    told[name]["foreign"] = client.post(path, json={"kind": "accept"}, headers=headers | {"origin": "http://evil.example"}).status_code
    told[name]["decide"] = client.post(path, json={"kind": "accept"}, headers=headers).status_code
    told[name]["style"] = client.get(re.search('stylesheet" href="([^"]*)', page.text)[1]).status_code if role else None
admin = TestClient(app, base_url="http://review.example")
admin.headers["authorization"] = "Bearer " + get_auth_manager().generate_jwt(SimpleAuthManagerUser(username="anna", role="ADMIN"))
plugins = admin.get("/api/v2/plugins").json()["plugins"]
told["entries"] = [view for one in plugins if one["name"] == "driftline_review" for view in one["external_views"]]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("airflow")
    plugins = folder / "plugins"
    plugins.mkdir()
    (plugins / "review.py").write_text("from pipeline.quality.annotation.web.plugin import ReviewPlugin\n")
    store = store_at(folder)
    ids = fill_demo(store)
    store.engine.dispose()
    environment = os.environ | {
        "AIRFLOW_HOME": str(folder),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(plugins),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{folder / 'airflow.db'}",
        "AIRFLOW__API__BASE_URL": "http://review.example",
        "AIRFLOW__API__SECRET_KEY": "a secret of the tests",
        "AIRFLOW__API_AUTH__JWT_SECRET": "another secret of the tests, which is long enough",
        "DRIFTLINE_DATA": str(folder),
        "PYTHONPATH": str(PROJECT),
    }
    command = [sys.executable, "-c", ASK, ids[0], plugin.PREFIX]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "look", "decide", "buttons"),
    [("nobody", 401, 401, False), ("vera", 200, 403, False), ("ulla", 200, 200, True), ("anna", 200, 200, True)],
)
def test_viewers_look_and_editors_decide(told, name, look, decide, buttons):
    seen = told[name]
    assert (seen["look"], seen["decide"], seen["buttons"]) == (look, decide, buttons)
    assert seen["who"] is (look == 200), "decisions are made under the name that is signed in"
    assert seen["foreign"] in {401, 403}
    assert seen["style"] in {None, 200}


@pytest.mark.slow
def test_the_navigation_leads_to_the_page(told):
    (entry,) = told["entries"]
    assert entry["href"] == f"{plugin.PREFIX}/"
    assert entry["destination"] == "nav"


def test_a_failing_page_is_an_error_without_its_cause(monkeypatch, caplog, tmp_path):
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    monkeypatch.setenv("DRIFTLINE_REVIEWS", "mysql://somebody:secret@host/reviews")
    monkeypatch.setenv("AIRFLOW__API__SECRET_KEY", "a secret of the tests")
    answer = TestClient(plugin.LazyPage()).get("/")
    assert answer.status_code == 503
    assert "host" not in answer.text
    assert "neither sqlite nor postgresql" in caplog.text


def test_airflow_finds_the_plugin_in_the_distribution():
    declared = (Path(PROJECT) / "pyproject.toml").read_text()
    assert f'driftline_review = "{plugin.__name__}:{plugin.ReviewPlugin.__name__}"' in declared


def test_loading_the_plugin_imports_no_page():
    """Every task of Airflow loads it: what the page needs must not cost each of them its time."""
    script = "import sys, pipeline.quality.annotation.web.plugin; print('fastapi' in sys.modules, 'pipeline.quality.annotation.store' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert done.stdout.split()[-2:] == ["False", "False"]
