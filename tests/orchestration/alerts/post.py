"""A real mail server on loopback that keeps what it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

from pipeline.orchestration.local_airflow.server import free_port


@dataclass
class Mailbox:
    """Where the server listens, and the mails that came."""

    port: int
    mails: list[EmailMessage] = field(default_factory=list)

    @property
    def connection(self) -> str:
        """The server as an Airflow connection."""
        return f"smtp://127.0.0.1:{self.port}?disable_ssl=true&disable_tls=true&retry_limit=1&timeout=5"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - as aiosmtpd calls it
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"

    def text(self, number: int = 0) -> str:
        """The text of a mail."""
        body = self.mails[number].get_body(("html", "plain"))
        assert body is not None
        return str(body.get_content())


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    """Serve until the block ends."""
    box = Mailbox(free_port())
    controller = Controller(box, hostname="127.0.0.1", port=box.port)
    controller.start()
    try:
        yield box
    finally:
        controller.stop()
