"""Pinned environments of releases, and the sandbox in which anything of other people's is run."""

from pipeline.environments.bubblewrap import Bubblewrap
from pipeline.environments.build_rules import BuildRules, build_rules
from pipeline.environments.collection import Collection
from pipeline.environments.diagnosis import Finding, diagnose
from pipeline.environments.environment import Environment, bare_environment
from pipeline.environments.failures import FailureRules, IndexUnreachable, StepFailed, failure_rules
from pipeline.environments.grants import CASE_UID, INDEX_SOCKET, GrantRefused, Grants
from pipeline.environments.inspect import Answer, Description, ask
from pipeline.environments.inspect_store import (
    NOT_INSPECTED,
    compiled_modules,
    inspect_modules,
    inspect_release,
)
from pipeline.environments.interpreters import Interpreter, discover
from pipeline.environments.missing import MissingRules, missing_rules
from pipeline.environments.probe import SandboxUnavailable, find_sandbox
from pipeline.environments.publishing import lock_to_publish
from pipeline.environments.records import Records
from pipeline.environments.rules import EnvironmentRules, InspectionRules, environment_rules
from pipeline.environments.sandbox import NoSandbox, Sandbox
from pipeline.environments.session import Session
from pipeline.environments.stage import environments_stage
from pipeline.environments.store import EnvironmentStore
from pipeline.environments.supervise import Finished, Limits
from pipeline.environments.wanted import Wanted, wanted_of

__all__ = [
    "CASE_UID",
    "INDEX_SOCKET",
    "NOT_INSPECTED",
    "Answer",
    "Bubblewrap",
    "BuildRules",
    "Collection",
    "Description",
    "Environment",
    "EnvironmentRules",
    "EnvironmentStore",
    "FailureRules",
    "Finding",
    "Finished",
    "GrantRefused",
    "Grants",
    "IndexUnreachable",
    "InspectionRules",
    "Interpreter",
    "Limits",
    "MissingRules",
    "NoSandbox",
    "Records",
    "Sandbox",
    "SandboxUnavailable",
    "Session",
    "StepFailed",
    "Wanted",
    "ask",
    "bare_environment",
    "build_rules",
    "compiled_modules",
    "diagnose",
    "discover",
    "environment_rules",
    "environments_stage",
    "failure_rules",
    "find_sandbox",
    "inspect_modules",
    "inspect_release",
    "lock_to_publish",
    "missing_rules",
    "wanted_of",
]
