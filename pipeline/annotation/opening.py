"""The review database, up to date with the lake, and what runs edits, as the settings say."""

from __future__ import annotations

from pipeline.annotation.collect import fill_from
from pipeline.annotation.filling import Filled
from pipeline.annotation.revalidation import Validator
from pipeline.annotation.rules import AnnotationRules
from pipeline.annotation.store import Store, open_store
from pipeline.annotation.validators import HouseValidator
from pipeline.drafting import DraftingRules
from pipeline.lake import Lake
from pipeline.rules import load
from pipeline.settings import settings


def open_reviews() -> tuple[Store, Validator]:
    """Open the review database, made or migrated where it has to be, and what runs edits as the pipeline would.

    Errors: StoreError, RuleError, SettingsError.
    """
    store = open_store(settings().reviews_url, load(settings().rules / "annotation.yaml", AnnotationRules))
    return store, HouseValidator(store, settings())


def take_from_lake(store: Store) -> Filled:
    """Bring the queue up to date with the flags of all libraries in the lake.

    Errors: RuleError.
    """
    lake = Lake(settings().lake)
    drafting = load(settings().rules / "drafting.yaml", DraftingRules)
    return fill_from(store, lake, lake.libraries("flags"), drafting)
