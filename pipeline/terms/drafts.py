"""What may become of a request to a model: closed vocabulary."""

from pipeline.terms.term import Term


class AskFailure(Term):
    REFUSED = "refused", "the model declined to answer"
    CUT_OFF = "cut_off", "the answer reached its bound before its end"
    NOT_THE_FORM = "not_the_form", "the answer does not fit the schema"
    BAD_REQUEST = "bad_request", "the provider did not take the request"
    EXPIRED = "expired", "the batch ended before the request was looked at"
    WAITING = "waiting", "the batch has not ended, or the budget is used up: a later run asks"
    UNREACHABLE = "unreachable", "the provider was out of reach, or overloaded, at each try"
