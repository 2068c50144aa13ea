"""Alembic runs this to find the database: the connection that `pipeline.quality.annotation.store` has open."""

from alembic import context

from pipeline.quality.annotation.database import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
