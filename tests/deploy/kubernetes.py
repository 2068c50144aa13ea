"""The API of Kubernetes on loopback, as far as pods go: what is asked for runs as processes of this machine.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

from __future__ import annotations

import copy
import json
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from pipeline.core.settings import PROJECT

Pod = dict[str, Any]

NAMESPACE = "driftline"
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
_VERBS = ["create", "delete", "get", "list", "patch", "watch"]
_DISCOVERY: Mapping[str, Mapping[str, Any]] = {
    "/version": {"major": "1", "minor": "33", "gitVersion": "v1.33.0"},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {
        "kind": "APIResourceList",
        "groupVersion": "v1",
        "resources": [{"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "verbs": _VERBS}],
    },
}


@dataclass
class Kubernetes:
    """Pods by name, and what happened to them in order; `variables` are those of the image and of its config maps.

    A pod has a folder of its own for what the template mounts as `emptyDir`, which is gone with it.
    """

    folder: Path
    variables: Mapping[str, str]
    url: str = ""
    pods: dict[str, Pod] = field(default_factory=dict)
    asked: list[Pod] = field(default_factory=list)
    events: list[tuple[str, Pod]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def config(self) -> Path:
        """Write the file by which clients find the server."""
        path = self.folder / "kubeconfig.yaml"
        named = {"cluster": "here", "user": "scheduler"}
        told = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "here", "cluster": {"server": self.url}}],
            "users": [{"name": "scheduler", "user": {"token": "a-token"}}],
            "contexts": [{"name": "here", "context": named}],
            "current-context": "here",
        }
        path.write_text(yaml.safe_dump(told))
        return path

    def create(self, pod: Pod) -> Pod:
        """Begin what a pod is to run."""
        from airflow.providers.cncf.kubernetes.pod_generator import PodGenerator

        assert PodGenerator.deserialize_model_dict(pod).spec.containers, "a pod has containers"
        name = pod["metadata"]["name"]
        pod["metadata"] |= {"namespace": NAMESPACE, "uid": name, "creationTimestamp": f"{datetime.now(UTC):%FT%TZ}"}
        self.asked.append(copy.deepcopy(pod))
        self._tell("ADDED", pod, "Pending")
        threading.Thread(target=self._run, args=(pod,), daemon=True).start()
        return pod

    def _run(self, pod: Pod) -> None:
        (container,) = pod["spec"]["containers"]
        name, folder = pod["metadata"]["name"], self.folder / pod["metadata"]["name"]
        folder.mkdir()
        own = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
        places = {"DRIFTLINE_DATA": str(folder / "data"), "AIRFLOW_HOME": str(folder / "airflow")}
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                container["args"], env={**self.variables, **own, **places}, cwd=PROJECT, stdout=log, stderr=log
            )
            self.processes[name] = process
            self._tell("MODIFIED", pod, "Running")
            code = process.wait()
        self._tell("MODIFIED", pod, "Failed" if code else "Succeeded")

    def _tell(self, kind: str, pod: Pod, phase: str | None = None) -> None:
        with self.changed:
            if phase:
                pod["status"] = {"phase": phase}
            pod["metadata"]["resourceVersion"] = str(len(self.events) + 1)
            if kind == "ADDED":
                self.pods[pod["metadata"]["name"]] = pod
            self.events.append((kind, copy.deepcopy(pod)))
            self.changed.notify_all()

    def patch(self, name: str, body: Pod) -> Pod:
        with self.changed:
            self.pods[name]["metadata"]["labels"] |= body["metadata"]["labels"]
        self._tell("MODIFIED", self.pods[name])
        return self.pods[name]

    def delete(self, name: str) -> Pod:
        pod = self.pods.pop(name)
        pod["metadata"]["deletionTimestamp"] = f"{datetime.now(UTC):%FT%TZ}"
        if (process := self.processes.get(name)) is not None:
            process.terminate()
        self._tell("DELETED", pod)
        return pod

    def found(self, selector: str) -> dict[str, Any]:
        with self.changed:
            items = [copy.deepcopy(pod) for pod in self.pods.values() if fits(pod, selector)]
            return {
                "kind": "PodList",
                "apiVersion": "v1",
                "metadata": {"resourceVersion": str(len(self.events))},
                "items": items,
            }

    def watch(self, since: int, selector: str, seconds: float) -> Iterator[dict[str, Any]]:
        """Yield what happens after a version, for so long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            with self.changed:
                new = self.events[since:] or (self.changed.wait(min(left, 5)) and self.events[since:]) or []
            since += len(new)
            yield from ({"type": kind, "object": pod} for kind, pod in new if fits(pod, selector))


def fits(pod: Pod, selector: str) -> bool:
    """Tell whether a pod has the labels of a selector such as `a=1,b!=2`."""
    labels = pod["metadata"].get("labels", {})
    for term in filter(None, selector.split(",")):
        name, _, value = term.partition("=")
        if (labels.get(name.removesuffix("!")) == value) == name.endswith("!"):
            return False
    return True


@contextmanager
def serving(state: Kubernetes) -> Iterator[Kubernetes]:
    """Serve until the block ends; nothing of the pods runs on."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"state": state}))
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        for process in state.processes.values():
            process.kill()
            process.wait(10)


class _Handler(BaseHTTPRequestHandler):
    state: Kubernetes
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        url, query = urlsplit(self.path), self._query()
        if url.path in _DISCOVERY:
            self._answer(200, _DISCOVERY[url.path])
        elif url.path == _PODS and query.get("watch", "").lower() == "true":
            self._stream(query)
        elif url.path == _PODS:
            self._answer(200, self.state.found(query.get("labelSelector", "")))
        else:
            self._of_one(lambda name: self.state.pods[name])

    def do_POST(self) -> None:
        assert self.path == _PODS, self.path
        self._answer(201, self.state.create(self._body()))

    def do_PATCH(self) -> None:
        body = self._body()
        self._of_one(lambda name: self.state.patch(name, body))

    def do_DELETE(self) -> None:
        self._body()
        self._of_one(self.state.delete)

    def _of_one(self, work: Any) -> None:
        parent, _, name = urlsplit(self.path).path.rpartition("/")
        if parent == _PODS and name in self.state.pods:
            self._answer(200, work(name))
        else:
            self._answer(404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404})

    def _query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    def _answer(self, status: int, told: object) -> None:
        data = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, query: Mapping[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        since, seconds = int(query.get("resourceVersion") or 0), float(query.get("timeoutSeconds") or 60)
        for event in self.state.watch(since, query.get("labelSelector", ""), seconds):
            line = json.dumps(event).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
