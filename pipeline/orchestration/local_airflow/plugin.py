"""What every process of Airflow loads: nothing of it counts but in the API server of a local Airflow."""

from __future__ import annotations

from typing import Any

from airflow.plugins_manager import AirflowPlugin

from pipeline.orchestration.local_airflow.database import CONNECT_ARGS
from pipeline.orchestration.local_airflow.one_writer import OneWriter


class LocalAirflowPlugin(AirflowPlugin):
    """What Airflow takes from here: nothing where its database is another one."""

    name = "driftline_local_airflow"
    fastapi_root_middlewares: list[Any] = (
        [{"middleware": OneWriter, "args": [], "kwargs": {}, "name": "One writer"}] if CONNECT_ARGS else []
    )
