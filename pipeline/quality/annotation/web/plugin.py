"""The review page in Airflow: an entry in its navigation, for its users, by its permissions.

The one module that imports Airflow. Every process of Airflow loads it, so that what the page is made of is only
imported in the one that is asked for it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.plugins_manager import AirflowPlugin

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

log = logging.getLogger(__name__)

PREFIX = "/driftline-review"
DAG = "refresh"
"""SignedIn may see this DAG looks, and who may edit it decides: permissions that every auth manager of Airflow has."""


class LazyPage:
    """The page as an ASGI application that is made at the first request."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        async with self._making:
            if self._app is None:
                self._app = await asyncio.to_thread(make_page_or_error)
        await self._app(scope, receive, send)


def make_page_or_error() -> ASGIApp:
    """Return the page, or, where it cannot be made, one that says so; why stands in the log, which few may read."""
    from starlette.responses import PlainTextResponse

    from pipeline.core.rules.load import RuleError
    from pipeline.core.settings import SettingsError
    from pipeline.quality.annotation.store import StoreError

    try:
        return make_page()
    except (StoreError, RuleError, SettingsError):
        log.exception("the review page cannot be made")
        message = (
            "The review page cannot be opened: the log of Airflow's API server says why. Then start the server again."
        )
        return PlainTextResponse(message, 503)


def make_page() -> ASGIApp:
    """Return the page over the review database of the settings, with Airflow's users.

    Errors: StoreError where the database cannot be opened, RuleError, SettingsError.
    """
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
    from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
    from airflow.api_fastapi.core_api.security import get_user
    from airflow.configuration import conf
    from fastapi import Depends, HTTPException

    from pipeline.quality.annotation.opening import open_reviews
    from pipeline.quality.annotation.web.access import Annotator, PageKeys
    from pipeline.quality.annotation.web.app import create_app

    # What GetUserDep stands for, which cannot be read from an annotation that is a text.
    def annotator_of(user: BaseUser = Depends(get_user)) -> Annotator:  # noqa: B008 - FastAPI's way
        manager, dag = get_auth_manager(), DagDetails(id=DAG)
        if not manager.is_authorized_dag(method="GET", details=dag, user=user):
            raise HTTPException(403, f"{user.get_name()} may not see the DAG {DAG}, and so not what it made")
        return Annotator(user.get_name(), decides=manager.is_authorized_dag(method="PUT", details=dag, user=user))

    public_host = urlsplit(conf.get("api", "base_url", fallback="") or "").netloc or None
    keys = PageKeys(conf.get_mandatory_value("api", "secret_key").encode(), public_host)
    store, validator = open_reviews()
    return create_app(store, validator, annotator_of, keys)


class ReviewPlugin(AirflowPlugin):
    """What Airflow takes from here. The page gets a window of its own: in a frame of Airflow its links lead nowhere."""

    name = "driftline_review"
    fastapi_apps: list[Any] = [{"app": LazyPage(), "url_prefix": PREFIX, "name": "Driftline review"}]  # noqa: RUF012
    external_views: list[Any] = [  # noqa: RUF012 - as Airflow declares it
        {"name": "Review", "href": f"{PREFIX}/", "destination": "nav"}
    ]
