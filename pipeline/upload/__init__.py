"""Snapshots go to where users are: the Hub of Hugging Face, and any store that fsspec can write to."""

from pipeline.upload.hub import upload_to_hub
from pipeline.upload.outgoing import NotUploaded, Outgoing, Uploaded, outgoing
from pipeline.upload.store import upload_to_store

__all__ = ["NotUploaded", "Outgoing", "Uploaded", "outgoing", "upload_to_hub", "upload_to_store"]
