"""The files of `deploy/` are what Airflow, Kubernetes and the builder of images take them for."""

from __future__ import annotations

import re
import subprocess
import sys
from configparser import ConfigParser
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from pipeline.core.settings import PROJECT, Settings
from pipeline.execution.environments.missing import missing_rules
from pipeline.orchestration.alerts.notifier import longest
from pipeline.orchestration.stages.groups import GROUPS
from tests.deploy.cluster import variables

DEPLOY = PROJECT / "deploy"


def test_a_task_waits_for_a_worker_as_long_as_the_longest_takes() -> None:
    """Airflow's default of 600 seconds failed the tasks behind two that took longer."""
    config = ConfigParser()
    config.read(PROJECT / "airflow.cfg")
    limits = [limit.total_seconds() for group in GROUPS if (limit := longest(group)) is not None]
    assert config.getfloat("scheduler", "task_queued_timeout") >= max(limits, default=0)
    assert limits


@pytest.mark.slow
def test_the_pod_of_a_task_is_made_of_the_template() -> None:
    from airflow.providers.cncf.kubernetes.pod_generator import PodGenerator

    template = PodGenerator.deserialize_model_file(str(DEPLOY / "pod_template.yaml"))
    told = variables()
    image = f"{told['AIRFLOW__KUBERNETES_EXECUTOR__WORKER_CONTAINER_REPOSITORY']}:latest"
    pod = PodGenerator.construct_pod(
        dag_id="refresh",
        task_id="collect.prove",
        pod_id="refresh-collect-prove",
        try_number=1,
        kube_image=image,
        date=datetime(2026, 11, 16, tzinfo=UTC),
        args=["python", "-m", "airflow.sdk.execution_time.execute_workload"],
        pod_override_object=None,
        base_worker_pod=template,
        namespace="driftline",
        scheduler_job_id="1",
        run_id="scheduled__2026-11-16",
        map_index=2,
    )
    (container,) = pod.spec.containers
    assert (container.name, container.image) == ("base", image)
    assert container.args[:2] == ["python", "-m"]
    assert not container.security_context.allow_privilege_escalation
    assert pod.spec.automount_service_account_token is False
    assert {mount.mount_path for mount in container.volume_mounts} == {"/run/secrets/driftline", "/var/lib/driftline"}
    assert {volume.name for volume in pod.spec.volumes} == {mount.name for mount in container.volume_mounts}
    assert pod.metadata.labels["app.kubernetes.io/name"] == "driftline"
    assert pod.metadata.annotations["map_index"] == "2"


def test_the_pod_and_the_image_mean_the_same_folders_and_user() -> None:
    pod = yaml.safe_load((DEPLOY / "pod_template.yaml").read_text())
    image = (DEPLOY / "Containerfile").read_text()
    mounts = {mount["name"]: mount["mountPath"] for mount in pod["spec"]["containers"][0]["volumeMounts"]}
    assert f"DRIFTLINE_DATA={mounts['data']}" in image
    assert f"USER {pod['spec']['securityContext']['runAsUser']}" in image
    told = variables()
    assert told["DRIFTLINE_SECRETS"].startswith(mounts["secrets"])
    items = {item["path"] for volume in pod["spec"]["volumes"] for item in volume.get("secret", {}).get("items", ())}
    assert items == {"airflow.yaml", "settings/driftline_reviews", "settings/driftline_rates"}


def test_what_is_told_to_every_component_are_settings_that_there_are() -> None:
    ours = {name.removeprefix("DRIFTLINE_").lower() for name in variables() if name.startswith("DRIFTLINE_")}
    assert ours - {"secrets"} <= set(Settings.model_fields)


def test_the_image_file_has_no_faults() -> None:
    """Checked by hadolint, with the shell of each step by shellcheck, which it brings."""
    done = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), DEPLOY / "Containerfile"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_what_the_image_copies_is_there() -> None:
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    copied = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert copied
    assert [name for name in copied if not (PROJECT / name).exists()] == []


def test_the_image_has_what_doctor_looks_for() -> None:
    """`usual` and `debian` of curation_rules/missing.yaml are the one list; what else is installed serves the image."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    (install,) = re.findall(r"apt-get install -y --no-install-recommends ([^&]+)&&", text)
    own = {"build-essential", "ca-certificates", "git", "tini", "util-linux"}
    rules = missing_rules()
    assert set(install.split()) == own | {rules.debian[name] for name in rules.usual}


def test_secret_settings_come_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline.core.settings import settings

    (tmp_path / "driftline_reviews").write_text("postgresql+psycopg://annotators:secret@db/reviews\n")
    monkeypatch.setenv("DRIFTLINE_SECRETS", str(tmp_path))
    assert settings().reviews_url == "postgresql+psycopg://annotators:secret@db/reviews"
