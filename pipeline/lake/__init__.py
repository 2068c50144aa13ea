"""Tables on disk: declared schemas, content ids, atomic partitions, and the runner that skips what is done."""

from pipeline.lake.collector import without_collector
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id, sha256_file, sha256_json, sha256_text
from pipeline.lake.intervals import Intervals, chains, encode, holding_at, holds_at
from pipeline.lake.names import UnsafeName, inner_path, plain_name
from pipeline.lake.place import at, at_release, release_of
from pipeline.lake.runner import TRANSIENT, Count, Stage, is_done, last_counts, read_counts, run_stage, write_json
from pipeline.lake.schema import Row, SchemaError, Table, table, table_names
from pipeline.lake.stage import Output, Reject, Update
from pipeline.lake.tables import Lake, encodable, read_parquet, replacing, rows_in, write_parquet, write_parts

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
    "UnsafeName",
    "Update",
    "at",
    "at_release",
    "attempt",
    "chains",
    "content_id",
    "encodable",
    "encode",
    "guarded",
    "holding_at",
    "holds_at",
    "inner_path",
    "is_done",
    "last_counts",
    "parted",
    "plain_name",
    "read_counts",
    "read_parquet",
    "release_of",
    "replacing",
    "rows_in",
    "run_stage",
    "sha256_file",
    "sha256_json",
    "sha256_text",
    "table",
    "table_names",
    "without_collector",
    "write_json",
    "write_parquet",
    "write_parts",
]
