"""Alembic runs this to find the database: the connection that `pipeline.annotation.store` has open."""

from alembic import context

from pipeline.annotation.database import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
