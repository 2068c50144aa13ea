"""What people do with flagged rows: the queue, their decisions, and what comes of them.

Import from its modules: SQLAlchemy and Alembic take a second to load, and the rules alone are needed everywhere.
"""
