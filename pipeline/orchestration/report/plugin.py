"""The reports of runs in Airflow: a tab of each run of the refresh, and the page of their status.

Users who may see that DAG see both; those who may edit its runs can run the failures of one again.

Every process of Airflow loads this module, so that what it needs is imported when a page is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from airflow.plugins_manager import AirflowPlugin
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.middleware.base import RequestResponseEndpoint

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy.orm import Session

PREFIX = "/driftline-report"
DAG, PUBLISH = "refresh", "publish"
"""Who may see this DAG may see what its runs came to."""

HEADERS = {
    # One page with its own style, and nothing else: what was crawled is text, and stays text.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""As the review page has them (`annotation/web/app.py`), in every answer, errors too."""


def make_app() -> FastAPI:
    """Return the application that answers with the page of a run."""
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
    from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
    from airflow.api_fastapi.core_api.security import get_user

    from pipeline.quality.annotation.web.access import is_same_origin

    app = guarded(FastAPI(title="Driftline report", openapi_url=None, docs_url=None, redoc_url=None))

    def allowed(user: BaseUser = Depends(get_user)) -> None:  # noqa: B008 - FastAPI's way
        if not get_auth_manager().is_authorized_dag(method="GET", details=DagDetails(id=DAG), user=user):
            raise HTTPException(403, f"{user.get_name()} may not see the DAG {DAG}, and so not what it made")

    def may_edit(user: BaseUser = Depends(get_user)) -> bool:  # noqa: B008 - FastAPI's way
        return get_auth_manager().is_authorized_dag(
            method="PUT", access_entity=DagAccessEntity.RUN, details=DagDetails(id=DAG), user=user
        )

    @app.get("/status", dependencies=[Depends(allowed)])
    def status_page(run: str | None = None, search: str = "", editor: bool = Depends(may_edit)) -> HTMLResponse:
        from pipeline.orchestration.report.page import status_page_of
        from pipeline.orchestration.report.status import status

        current = status(run or None)
        repeatable = editor and current is not None and has_ended(current.run)
        return HTMLResponse(status_page_of(current, search, repeatable=repeatable))

    @app.post("/rerun")
    def rerun(request: Request, run: str, editor: bool = Depends(may_edit)) -> RedirectResponse:
        if not editor or not is_same_origin(request, public_host()):
            raise HTTPException(403, f"only the page of a user who may edit runs of the DAG {DAG} repeats them")
        run_failures_again(run)
        return RedirectResponse(f"status?{urlencode({'run': run})}", 303)

    @app.get("/{run}", dependencies=[Depends(allowed)])
    def page(run: str) -> HTMLResponse:
        return HTMLResponse(page_of_run(_published_by(run) or run).read_bytes())

    return app


def guarded(app: FastAPI) -> FastAPI:
    """Let no other site take the pages of an application into its own, and set `HEADERS` in every answer."""
    from pipeline.quality.annotation.web.access import is_embedded

    @app.middleware("http")
    async def with_headers(request: Request, answer: RequestResponseEndpoint) -> Response:
        if is_embedded(request):
            response: Response = PlainTextResponse("this page is not for other sites", 403)
        else:
            response = await answer(request)
        response.headers.update(HEADERS)
        return response

    return app


def _published_by(run: str) -> str | None:
    """Return the refresh that a run of the DAG publish is about, None where there is no such run."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import select

    about = select(DagRun.partition_key, DagRun.conf).where(DagRun.dag_id == PUBLISH, DagRun.run_id == run)
    with create_session() as session:
        row = session.execute(about).first()
    return (row.partition_key or (row.conf or {}).get("run")) if row else None


def public_host() -> str | None:
    """Return the host of Airflow's setting `base_url`, with its port."""
    from airflow.configuration import conf

    return urlsplit(conf.get("api", "base_url", fallback="") or "").netloc or None


def dag_run_of(session: Session, run: str) -> DagRun | None:
    """Return a run of the DAG, None if Airflow has none of this name."""
    from airflow.models.dagrun import DagRun
    from sqlalchemy import select

    dag_run: DagRun | None = session.scalar(select(DagRun).where(DagRun.dag_id == DAG, DagRun.run_id == run))
    return dag_run


def has_ended(run: str) -> bool:
    """Return whether Airflow has a run of this name, and it has ended."""
    from airflow.utils.session import create_session
    from airflow.utils.state import State

    with create_session() as session:
        dag_run = dag_run_of(session, run)
        return dag_run is not None and dag_run.state in State.finished_dr_states


def run_failures_again(run: str) -> None:
    """Clear the failed tasks of a run that has ended, and the last tasks, which write its report and publish it.

    Errors: HTTPException 409 if it goes on, or nothing in it failed, 404 if Airflow no longer has its DAG.
    """
    from airflow.models.dagbag import DBDagBag
    from airflow.models.deadline import Deadline
    from airflow.utils.session import create_session
    from sqlalchemy import delete

    if not has_ended(run):
        raise HTTPException(409, f"run {run} goes on, or is none of Airflow: see `driftline status` and `rerun`")
    with create_session() as session:
        dag_run = dag_run_of(session, run)
        dag = None if dag_run is None else DBDagBag().get_dag_for_run(dag_run, session)
        if dag_run is None or dag is None:
            raise HTTPException(404, f"Airflow no longer has the DAG of run {run}: start a new one")
        # Airflow 3.3 cannot clear a run with a deadline (TypeError in `_recalculate_dagrun_queued_at_deadlines`).
        session.execute(delete(Deadline).where(Deadline.dagrun_id == dag_run.id, ~Deadline.missed))
        if not dag.clear(run_id=run, only_failed=True, session=session):
            raise HTTPException(409, f"no task of run {run} failed")
        last = [name for name, task in dag.task_dict.items() if not task.downstream_task_ids]
        dag.clear(run_id=run, task_ids=last, session=session)


def page_of_run(run: str) -> Path:
    """Return the file with the page of a run.

    Errors: HTTPException 404 where no run has that name, or its page is not written yet.
    """
    from pipeline.lake.run_records import read_record
    from pipeline.orchestration.refresh import Refresh
    from pipeline.orchestration.report.source import PAGE

    folder = Refresh(run).folder
    record, path = read_record(folder), folder / PAGE
    if record is None or record.run != run or not path.is_file():
        raise HTTPException(404, f"run {run} has no report yet: one is written when it ends, and when it is published")
    return path


class _Lazy:
    """The application, made at the first request: most processes of Airflow never get one."""

    def __init__(self) -> None:
        self._app: FastAPI | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        self._app = self._app or make_app()
        await self._app(scope, receive, send)


class ReportPlugin(AirflowPlugin):
    """What Airflow takes from here."""

    name = "driftline_report"
    fastapi_apps: list[Any] = [{"app": _Lazy(), "url_prefix": PREFIX, "name": "Driftline report"}]  # noqa: RUF012
    external_views: list[Any] = [  # noqa: RUF012 - as Airflow declares it
        {
            "name": "Driftline report",
            "href": f"{PREFIX}/{{RUN_ID}}",
            "destination": "dag_run",
            "url_route": "driftline-report",
        },
        {"name": "Driftline status", "href": f"{PREFIX}/status", "destination": "nav", "url_route": "driftline-status"},
    ]
