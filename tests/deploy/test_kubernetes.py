"""The DAGs under KubernetesExecutor, whose pods are made of the shipped template and begin with an empty folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.core.settings import PROJECT
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.verify import verify
from tests.demo_library import publish_demo
from tests.deploy.cluster import Cluster, running, tasks_of
from tests.deploy.kubernetes import Kubernetes, serving
from tests.deploy.runs import ended, look_into, start_refresh, state_of, until
from tests.index_server import Index, serve

pytestmark = [pytest.mark.slow(minutes=2), pytest.mark.soak]

CONF = {"profile": "starter", "libraries": ["demo"], "since": "2020-12-01", "until": "2022-01-01"}


@pytest.fixture(scope="module")
def kubernetes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubernetes]:
    with serving(Kubernetes(tmp_path_factory.mktemp("pods"), {})) as api:
        yield api


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, kubernetes: Kubernetes) -> Iterator[Cluster]:
    told = {
        "AIRFLOW__CORE__EXECUTOR": "KubernetesExecutor",
        "AIRFLOW__KUBERNETES_EXECUTOR__POD_TEMPLATE_FILE": str(PROJECT / "deploy" / "pod_template.yaml"),
        "AIRFLOW__KUBERNETES_EXECUTOR__IN_CLUSTER": "False",
        "AIRFLOW__KUBERNETES_EXECUTOR__CONFIG_FILE": str(kubernetes.config()),
    }
    with serve(Index()) as index:
        publish_demo(index, "demo", ("1.0", "1.1"))
        with running(tmp_path_factory.mktemp("cluster"), index.simple, workers=(), told=told) as found:
            kubernetes.variables = found.environment
            yield found


def test_each_task_is_a_pod_of_the_template_that_begins_with_an_empty_folder(
    cluster: Cluster, kubernetes: Kubernetes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = cluster.signed_in("admin")
    run = start_refresh(cluster, admin, CONF)
    until(lambda: state_of(cluster, admin, "refresh", run) in ("success", "failed"), "the refresh ends")
    until(lambda: ended(cluster, admin, "publish"), "the snapshot is published")
    tasks = tasks_of(cluster, admin, "refresh", run)
    assert {task["state"] for task in tasks} == {"success"}, tasks

    labels = [pod["metadata"]["labels"] for pod in kubernetes.asked]
    assert {label["app.kubernetes.io/component"] for label in labels} == {"task"}
    in_pods = Counter(label["task_id"] for label in labels if label["dag_id"] == "refresh")
    assert in_pods == Counter(task["task_id"] for task in tasks)
    assert all(pod["spec"]["securityContext"]["runAsNonRoot"] for pod in kubernetes.asked)
    until(lambda: not kubernetes.pods, "pods that have ended are deleted")

    lake = look_into(cluster, tmp_path, monkeypatch)
    published = latest(tmp_path / "snapshots", "starter")
    assert published is not None
    assert verify(published) == []
    assert {row["version"] for row in lake.read("releases", "demo")} == {"1.0", "1.1"}
