"""`driftline upload`: send a snapshot to the Hub or a store."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, out, print_json, progress
from pipeline.cli.snapshots import SnapshotName, find_snapshot

_HUB = "hf://datasets/"

To = Annotated[
    str,
    typer.Argument(help="hf://datasets/OWNER/NAME, or an address that fsspec knows: s3://bucket/prefix, file:///…"),
]


def upload(
    snapshot: SnapshotName,
    to: To,
    private: Annotated[
        bool, typer.Option("--private", help="On the Hub: make the repository private; one that is public is refused.")
    ] = False,
    json: Json = False,
) -> None:
    """Send a snapshot to the Hub of Hugging Face, or to a store; existing files are never overwritten.

    A repeated upload resumes. Keys come from the environment: HF_TOKEN, AWS_ACCESS_KEY_ID and similar variables.

    Example: driftline upload starter s3://bucket/driftline
    """
    from pipeline.snapshots.upload.hub import upload_to_hub
    from pipeline.snapshots.upload.outgoing import NotUploaded, outgoing
    from pipeline.snapshots.upload.store import upload_to_store

    if "://" not in to:
        fail(f"{to}: no address. Name one such as hf://datasets/OWNER/NAME or s3://bucket/prefix", BAD_USAGE)
    if to.startswith("hf:") and not to.startswith(_HUB):
        fail(f"{to}: a snapshot is a data set on the Hub: name hf://datasets/OWNER/NAME", BAD_USAGE)
    folder = find_snapshot(snapshot)
    try:
        with progress(f"checking {folder.name}") as report:
            sending = outgoing(folder)
            report(f"sending {sending.name} to {to}", 0, 0)
            if to.startswith(_HUB):
                done = upload_to_hub(sending, to.removeprefix(_HUB).strip("/"), private=private)
            else:
                done = upload_to_store(sending, to)
    except NotUploaded as error:
        fail(error, PROBLEM)
    if json:
        print_json({"snapshot": sending.name, "profile": sending.profile} | asdict(done))
        return
    out.print(f"{done.address}: {len(done.sent)} files sent, {len(done.existing)} were there", markup=False)
    out.print(f"latest is {done.latest}", markup=False)
