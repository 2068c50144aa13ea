"""What a person should look at: flags by rules, and what running says about an instance's tag."""

from pipeline.review.flags import flags_stage, kinds_by_instance
from pipeline.review.proof import Proof, Runs, followers, prove
from pipeline.review.rules import FlagRules
from pipeline.review.seen import Default, Seen

__all__ = ["Default", "FlagRules", "Proof", "Runs", "Seen", "flags_stage", "followers", "kinds_by_instance", "prove"]
