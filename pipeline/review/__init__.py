"""What a person should look at: flags by rules, and what running says about an instance's tag."""

from pipeline.review.deciding import deciding_run
from pipeline.review.flags import flags_stage, kinds_by_instance
from pipeline.review.proof import Proof, Runs, followers, prove
from pipeline.review.reviews import DESCRIPTION, EDITED, JUDGED, Review, Reviews, block_description, edited, judged
from pipeline.review.rules import FlagRules
from pipeline.review.seen import Default, Seen
from pipeline.review.subjects import READS

__all__ = [
    "DESCRIPTION",
    "EDITED",
    "JUDGED",
    "READS",
    "Default",
    "FlagRules",
    "Proof",
    "Review",
    "Reviews",
    "Runs",
    "Seen",
    "block_description",
    "deciding_run",
    "edited",
    "flags_stage",
    "followers",
    "judged",
    "kinds_by_instance",
    "prove",
]
