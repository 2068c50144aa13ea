"""Evaluations of models: closed vocabularies."""

from pipeline.core.vocabularies.term import Term


class Protocol(Term):
    """How an endpoint is asked."""

    OPENAI = "openai", "chat completions of OpenAI, which most servers of open models offer too"
    ANTHROPIC = "anthropic", "messages of Anthropic"


class View(Term):
    """Which rows of a family are tasks."""

    DISCRIMINATING = "discriminating", "rows with discriminating true; all rows of a family without that column"
    POST_CUTOFF = (
        "post_cutoff",
        "rows of which each date (see the card, *dated by*) is after the last day of training data",
    )
    ALL = "all", "all rows"


class EndpointProblem(Term):
    """Why asking an endpoint ended before all answers were there."""

    WRONG_KEY = "wrong_key", "the endpoint does not accept the key"
    NO_SUCH_MODEL = "no_such_model", "the endpoint has no such model, or no such address"
    NOT_THE_PROTOCOL = "not_the_protocol", "the answers are not those of the protocol"
    BAD_REQUESTS = "bad_requests", "the endpoint took none of the first requests"
    UNREACHABLE = "unreachable", "the endpoint is down, overloaded or too slow, at each try"
    SPEND_LIMIT = "spend_limit", "the provider takes no more money"
    BUDGET = "budget", "the next request might cost more than --max-usd"
    REFUSED = "refused", "the endpoint refuses, with a status that no other code covers"
