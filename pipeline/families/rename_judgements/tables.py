"""The tables of judgements.

Nothing of the provider's SDK is imported here: the stages that read these tables run without it.
"""

TABLES = ("judgements", "refused_judgements")
"""What the stage `judgements` writes; empty where no model drafts."""
