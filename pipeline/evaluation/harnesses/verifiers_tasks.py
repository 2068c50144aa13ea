"""The environment of `verifiers` (Prime Intellect): our prompts for a model in training, rewarded by our verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cache

import verifiers.v1 as vf
from openai import AsyncOpenAI, OpenAIError

from pipeline.core.errors import InputError
from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.harnesses.judge import Judge
from pipeline.evaluation.views import task_view


class DriftlineConfig(vf.TasksetConfig):
    """Which tasks are asked: a family, a snapshot or the profile for its latest, a view with its date, a setting."""

    family: Family = Family.MIGRATION
    snapshot: str = "starter"
    view: View = View.DISCRIMINATING
    cutoff: str | None = None
    setting: str | None = None


class DriftlineData(vf.TaskData):
    """What is recorded of a task: where its judge comes from, and no reference."""

    family: Family
    snapshot: str
    view: View
    cutoff: str | None
    setting: str | None
    canary: str


class DriftlineTask(vf.Task[DriftlineData, vf.State, vf.TaskConfig]):
    """A task whose answer is the last message of the model."""

    @property
    def key(self) -> str:
        """The id of the row, a hash of its content."""
        return str(self.data.id)

    @vf.reward
    async def verdict(self, trace: vf.Trace) -> float:
        """Return the main metric of the answer, from 0 to 1, and record every metric.

        Errors: ValueError without an answer or a verdict on it; the episode is then an error, and no failure of the
        model.
        """
        data, messages = self.data, trace.assistant_messages
        if not messages:
            raise InputError(f"{data.family} {data.id}: the model gave no answer", code="harness_answer_missing")
        judge = _judge(data.family, data.snapshot, data.view, data.cutoff, data.setting)
        # `trace.last_reply` would strip the indentation of the first line.
        verdict = await asyncio.to_thread(judge.verdict, str(data.id), messages[-1].content or "")
        trace.record_metrics({metric.value: score for metric, score in verdict.scores.items()})
        if judge.main not in verdict.scores:
            raise InputError(
                f"{data.family} {data.id}: no {judge.main} of this answer: {verdict.missing}",
                code="harness_verdict_missing",
            )
        return verdict.scores[judge.main]


class DriftlineTaskset(vf.Taskset[DriftlineTask, DriftlineConfig]):
    """The tasks of a family whose answers can have a reward."""

    def load(self) -> Iterator[DriftlineTask]:
        """Yield the tasks in the order of the snapshot.

        Errors: those of `Judge`; ValueError where no answer can have a reward.
        """
        config = self.config
        judge = _judge(config.family, config.snapshot, config.view, config.cutoff, config.setting)
        if judge.main not in judge.metrics:
            raise InputError(
                f"{judge.folder.name}: no answer to {config.family.table} can have {judge.main}, since no row can be"
                " run; name another snapshot or view",
                code="harness_nothing_runs",
            )
        for question in judge.questions.values():
            if judge.main in question.metrics:
                data = DriftlineData(
                    id=question.id,
                    prompt=question.prompt,
                    system_prompt=question.system,
                    family=config.family,
                    snapshot=config.snapshot,
                    view=config.view,
                    cutoff=config.cutoff,
                    setting=config.setting,
                    canary=question.canary,
                )
                yield DriftlineTask(data, config.task)


class DriftlineHarness(vf.Harness[vf.HarnessConfig]):
    """One request for one answer, from this process: no program has to be installed or started for it."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: DriftlineData,
    ) -> vf.ProgramResult:
        """Ask the model behind an endpoint of verifiers, which records the answer."""
        texts = {"system": data.system_prompt, "user": data.prompt}
        messages = [{"role": role, "content": text} for role, text in texts.items() if text is not None]
        try:
            # How long an answer may take is for `--env.agent.timeout.rollout` to say.
            async with AsyncOpenAI(base_url=endpoint, api_key=secret, timeout=None) as client:
                await client.chat.completions.create(model=ctx.model, messages=messages)
        except OpenAIError as error:
            return vf.ProgramResult(exit_code=1, stdout="", stderr=str(error))
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class DriftlineEnvConfig(vf.SingleAgentEnvConfig):
    """The model is asked from this machine, where answers are run too, instead of a rented one."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class DriftlineEnv(vf.SingleAgentEnv, vf.Env[DriftlineEnvConfig]):
    """One model that answers one task."""


@cache
def _judge(family: Family, snapshot: str, view: View, cutoff: str | None, setting: str | None) -> Judge:
    return Judge(snapshot, family, task_view(view, cutoff), setting)
