"""Tables on disk: declared schemas, content ids, atomic partitions, and the runner that skips what is done."""

from pipeline.lake.collector import without_collector
from pipeline.lake.ids import content_id, sha256_file, sha256_json, sha256_text
from pipeline.lake.intervals import Intervals, chains, encode, holding_at, holds_at
from pipeline.lake.runner import TRANSIENT, Count, Stage, read_counts, run_stage, write_json
from pipeline.lake.schema import Row, SchemaError, Table, table, table_names
from pipeline.lake.stage import Output, Reject, Update
from pipeline.lake.tables import Lake, read_parquet, replacing, write_parquet

__all__ = [
    "TRANSIENT",
    "Count",
    "Intervals",
    "Lake",
    "Output",
    "Reject",
    "Row",
    "SchemaError",
    "Stage",
    "Table",
    "Update",
    "chains",
    "content_id",
    "encode",
    "holding_at",
    "holds_at",
    "read_counts",
    "read_parquet",
    "replacing",
    "run_stage",
    "sha256_file",
    "sha256_json",
    "sha256_text",
    "table",
    "table_names",
    "without_collector",
    "write_json",
    "write_parquet",
]
