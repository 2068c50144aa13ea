"""What people do with what the review stage has flagged: the queue, their decisions, and what comes of them.

Import from its modules: SQLAlchemy and Alembic take a second to load, and the rules alone are needed everywhere.
"""
