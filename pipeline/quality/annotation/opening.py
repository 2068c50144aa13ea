"""The review database, up to date with the lake, and what runs edits, as the settings say."""

from __future__ import annotations

from pipeline.core.rules.load import load
from pipeline.core.settings import settings
from pipeline.lake.tables import Lake
from pipeline.llm.rules import DraftingRules
from pipeline.quality.annotation.collect import fill_from
from pipeline.quality.annotation.filling import Filled
from pipeline.quality.annotation.revalidation import Validator
from pipeline.quality.annotation.store import Store, open_store
from pipeline.quality.annotation.validators import LakeValidator
from pipeline.quality.annotation_rules import AnnotationRules


def open_reviews() -> tuple[Store, Validator]:
    """Open the review database, made or migrated where it has to be, and what runs edits as the pipeline would.

    Errors: StoreError, RuleError, SettingsError.
    """
    store = open_store(settings().reviews_url, load(settings().rules / "annotation.yaml", AnnotationRules))
    return store, LakeValidator(store, settings())


def take_from_lake(store: Store) -> Filled:
    """Bring the queue up to date with the flags of all libraries in the lake.

    Errors: RuleError.
    """
    lake = Lake(settings().lake_root)
    drafting = load(settings().rules / "drafting.yaml", DraftingRules)
    return fill_from(store, lake, lake.libraries("flags"), drafting)
