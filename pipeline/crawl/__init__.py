"""What comes from outside: the package index, and the guarded reading of its archives."""

from pipeline.crawl.artifacts import ArtifactStore
from pipeline.crawl.candidates import Candidate, Period, Wanted, finals_of
from pipeline.crawl.found import CodeSource, Found
from pipeline.crawl.gather import gather_stage
from pipeline.crawl.http import BadAnswer, Fetcher, NotFound, Unreachable, WrongHash
from pipeline.crawl.index import IndexFile, Project, project
from pipeline.crawl.licences import LicenceRules, is_allowed
from pipeline.crawl.releases import releases_stage
from pipeline.crawl.rules import CrawlRules
from pipeline.crawl.sources import SourcesError
from pipeline.crawl.tree import SourceTree, without_stubs

__all__ = [
    "ArtifactStore",
    "BadAnswer",
    "Candidate",
    "CodeSource",
    "CrawlRules",
    "Fetcher",
    "Found",
    "IndexFile",
    "LicenceRules",
    "NotFound",
    "Period",
    "Project",
    "SourceTree",
    "SourcesError",
    "Unreachable",
    "Wanted",
    "WrongHash",
    "finals_of",
    "gather_stage",
    "is_allowed",
    "project",
    "releases_stage",
    "without_stubs",
]
