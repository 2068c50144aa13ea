"""Stack Overflow: blocks of code of posts that name a version of a library."""

from pipeline.crawl.stack_overflow.mentions import stack_overflow_rules, try_examples
from pipeline.crawl.stack_overflow.rules import StackOverflowRules
from pipeline.crawl.stack_overflow.source import StackOverflow

__all__ = ["StackOverflow", "StackOverflowRules", "stack_overflow_rules", "try_examples"]
