"""Tables on disk: declared schemas, content ids, atomic partitions, and the runner that skips what is done."""

from pipeline.lake.ids import content_id, sha256_json, sha256_text
from pipeline.lake.intervals import chains, encode, holding_at
from pipeline.lake.schema import Row, SchemaError, Table, table, table_names
from pipeline.lake.stage import Output, Reject
from pipeline.lake.tables import Lake, read_parquet, replacing, write_parquet

__all__ = [
    "Lake",
    "Output",
    "Reject",
    "Row",
    "SchemaError",
    "Table",
    "chains",
    "content_id",
    "encode",
    "holding_at",
    "read_parquet",
    "replacing",
    "sha256_json",
    "sha256_text",
    "table",
    "table_names",
    "write_parquet",
]
