"""Approval of a candidate in Airflow: an answer holds for one candidate, and a newer lake ends the wait for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import get_current_context
from airflow.sdk.exceptions import TaskAwaitingInput

from pipeline.snapshots.release_checks.approval_rules import approval_rule

TASK = "approval"
_LOOKS_EVERY = timedelta(hours=1)
_REQUEST, _ANSWER, _NEWER = "asked", "answer", "newer"


class Approval(ApprovalOperator):
    """A yes or no that is kept with the candidate that it is about; after a no Airflow's own keeps none.

    No process waits: the task is parked, and its timeout wakes it up to look whether an answer is still wanted.
    """

    def __init__(self, **kwargs: Any) -> None:
        rule = approval_rule()
        users: Any = [{"id": user, "name": user} for user in rule.users]
        super().__init__(task_id=TASK, assigned_users=users, response_timeout=looks_every(), **kwargs)

    def execute(self, context: Any) -> Any:
        """Ask where a release check needs approval; else succeed at once, so that a good run skips nothing."""
        candidate = context["ti"].xcom_pull(task_ids="candidate")
        if not candidate["asks"]:
            self.log.info("no release check needs approval")
            return None
        request = {name: candidate[name] for name in ("profile", "run", "candidate")}
        context["ti"].xcom_push(_REQUEST, request | {"at": datetime.now(UTC).isoformat()})
        return super().execute(context)

    def execute_complete(self, context: Any, event: dict[str, Any]) -> Any:
        """Take the answer; or, if there is none yet, wait on where it is still wanted and not too late."""
        request = context["ti"].xcom_pull(task_ids=TASK, key=_REQUEST)
        if event.get("error_type") == "timeout":
            event = self._without_answer(context, request, event)
        elif "error" not in event:
            context["ti"].xcom_push(
                _ANSWER, event | {"responded_at": str(event["responded_at"]), "candidate": request["candidate"]}
            )
        return super().execute_complete(context, event)

    def _without_answer(self, context: Any, request: dict[str, str], event: dict[str, Any]) -> dict[str, Any]:
        """Return what it ends with: a no where it is not wanted any more, the timeout where it is too late."""
        # heavy to import, and Airflow reads DAG files often
        from pipeline.orchestration.publishing.publish_snapshot import last_refresh
        from pipeline.orchestration.publishing.superseding import newer_than, waits

        profile, run, now = request["profile"], request["run"], datetime.now(UTC)
        waited = now - datetime.fromisoformat(request["at"])
        try:
            newer = newer_than(last_refresh(profile, run)) if waited >= approval_rule().gives_way_after else None
            pending = not newer and waits(profile, run, request["candidate"])
        except Exception as error:  # noqa: BLE001 - clients of stores have errors of their own
            self.log.warning("whether an answer is still wanted is not known, it is waited for: %s", error)
            newer, pending = None, True
        if not pending:
            self.log.info("no answer is wanted any more: %s", newer or "its candidate is not the one that waits")
            context["ti"].xcom_push(_NEWER, newer)
            return {"chosen_options": [self.REJECT], "params_input": {}, "responded_at": now, "responded_by_user": None}
        if waited >= approval_rule().within:
            return event
        raise TaskAwaitingInput(
            method_name="execute_complete", timeout=min(looks_every(), approval_rule().within - waited)
        )


def looks_every() -> timedelta:
    """Return after which time it looks again whether an answer is still wanted."""
    return min(_LOOKS_EVERY, approval_rule().gives_way_after)


def answer() -> Any:
    """Return what a person answered, None where nobody was asked or has answered."""
    return get_current_context()["ti"].xcom_pull(task_ids=TASK, key=_ANSWER)


def requested_snapshot() -> str:
    """Return the candidate that a person was asked about (sha256 of its manifest), empty where nobody was asked."""
    request = get_current_context()["ti"].xcom_pull(task_ids=TASK, key=_REQUEST)
    return request["candidate"] if request else ""


def newer() -> str | None:
    """Return the run that ended the wait for an answer, None where none did."""
    name: str | None = get_current_context()["ti"].xcom_pull(task_ids=TASK, key=_NEWER)
    return name
