"""Pinned environments of releases, and the sandbox in which anything of other people's is run."""

from pipeline.environments.diagnosis import Finding, diagnose
from pipeline.environments.environment import Environment, bare_environment
from pipeline.environments.interpreters import Interpreter, discover, pick
from pipeline.environments.probe import SandboxUnavailable, find_sandbox
from pipeline.environments.resolver import IndexUnreachable, StepFailed
from pipeline.environments.rules import EnvironmentRules, environment_rules
from pipeline.environments.sandbox import Bubblewrap, NoSandbox, Sandbox
from pipeline.environments.stage import environments_stage
from pipeline.environments.store import EnvironmentStore
from pipeline.environments.supervise import Finished, Limits

__all__ = [
    "Bubblewrap",
    "Environment",
    "EnvironmentRules",
    "EnvironmentStore",
    "Finding",
    "Finished",
    "IndexUnreachable",
    "Interpreter",
    "Limits",
    "NoSandbox",
    "Sandbox",
    "SandboxUnavailable",
    "StepFailed",
    "bare_environment",
    "diagnose",
    "discover",
    "environment_rules",
    "environments_stage",
    "find_sandbox",
    "pick",
]
