"""A model that drafts: requests, what was answered, and what it cost."""

from pipeline.drafting.model.answers import Answer, Answers
from pipeline.drafting.model.ask import Ask, Failure
from pipeline.drafting.model.batches import Batches
from pipeline.drafting.model.client import Client, SpendLimit
from pipeline.drafting.model.drafter import Asked, ModelDrafter
from pipeline.drafting.model.ledger import BudgetReached, Ledger
from pipeline.drafting.model.rules import ModelRules, Price

__all__ = [
    "Answer",
    "Answers",
    "Ask",
    "Asked",
    "Batches",
    "BudgetReached",
    "Client",
    "Failure",
    "Ledger",
    "ModelDrafter",
    "ModelRules",
    "Price",
    "SpendLimit",
]
