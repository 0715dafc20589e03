"""Every row of the table of failures, and the traps beside it."""
# ruff: noqa: E501 - the providers' own sentences

import re

import pytest

from gateway.agent.overflow import WORDINGS, Failure, classify

OVERFLOWS = [
    (400, "context_length_exceeded", "invalid_request_error", "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages."),
    (400, "", "", "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 477469 tokens. Please reduce the length of the messages."),
    (None, "context_length_exceeded", "invalid_request_error", "Your input exceeds the context window of this model. Please adjust your input and try again."),
    (None, "", "", "Your input exceeds the context window of this model. Please adjust your input and try again."),
    (400, "", "", "This model's maximum context length is 32768 tokens. However, you requested 35969 tokens (9969 in the messages, 26000 in the completion). Please reduce the length of the messages or completion."),
    (400, "400", "", 'This endpoint\'s maximum context length is 163840 tokens. However, you requested about 243013 tokens (238917 of text input, 4096 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.'),
    (400, "400", "", "Provider returned error\nprompt is too long: 201130 tokens > 200000 maximum"),
    (200, "400", "", "Provider returned error\nThis endpoint's maximum context length is 8 tokens."),
    (400, "", "invalid_request_error", "prompt is too long: 201130 tokens > 200000 maximum"),
    (400, "", "invalid_request_error", "input length and `max_tokens` exceed context limit: 143653 + 64000 > 200000, decrease input length or `max_tokens` and try again"),
    (413, "", "request_too_large", "Request exceeds the maximum size"),
    (400, "400", "", "The input token count (134123) exceeds the maximum number of tokens allowed (131072)."),
    (400, "", "", "The input token count exceeds the maximum number of tokens allowed (131072)."),
    (400, "3051", "invalid_request_error", "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length"),
    (400, "invalid_request_error", "invalid_request_error", "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion."),
    (400, "400", "BadRequestError", "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion)."),
    (400, "400", "BadRequestError", "The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens."),
    (400, "", "", "The input (45000 tokens) is longer than the model's context length (32768 tokens)."),
    (400, "400", "exceed_context_size_error", "the request exceeds the available context size. try increasing the context size or enable context shift"),
    (500, "500", "server_error", "the request exceeds the available context size. try increasing the context size or enable context shift"),
    (400, "", "", "prompt too long; exceeded max context length by 300 tokens"),
    (400, "", "", "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input"),
    (400, "", "", "Trying to keep the first 6547 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."),
    (200, "", "", "Context size has been exceeded."),
    (400, "context_length_exceeded", "invalid_request_error", "Please reduce the length of the messages or completion."),
    (400, "", "invalid_request_error", "Please reduce the length of the messages or completion."),
    (413, "rate_limit_exceeded", "tokens", "Request too large for model `x` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again."),
    (429, "rate_limit_exceeded", "tokens", "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully."),
    (422, "", "", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125 `inputs` tokens and 4096 `max_new_tokens`"),
    (400, "", "", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    (413, "", "", ""),
    (400, "", "", ""),
    (400, "", "", "Current length is 300000 while limit is 262144"),
    (400, "", "", "Input is too long for requested model."),
    (400, "", "", "invalid params, context window exceeds limit (2013)"),
    (400, "", "", "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"),
    (400, "", "", "prompt token count of 150000 exceeds the limit of 128000"),
    (400, "", "", "Range of input length should be [1, 129024]"),
    (None, "model_context_window_exceeded", "", ""),
]  # fmt: skip

OTHERS = [
    # The key comes first, whatever the text says.
    (401, "context_length_exceeded", "", "maximum context length is 8 tokens", Failure.AUTH),
    (403, "", "", "prompt is too long", Failure.AUTH),
    (None, "invalid_api_key", "", "Incorrect API key provided", Failure.AUTH),
    (200, "401", "", "User not found.", Failure.AUTH),
    # A rate limit is not an overflow.
    (429, "rate_limit_exceeded", "tokens", "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.", Failure.BUSY),
    (429, "", "", "This model's maximum context length is 8192 tokens per request; slow down", Failure.BUSY),
    (429, "", "", "", Failure.BUSY),
    (400, "", "", "ThrottlingException: Too many tokens, please wait before trying again.", Failure.BUSY),
    (None, "rate_limit_exceeded", "", "Rate limit reached", Failure.BUSY),
    (413, "", "", "ThrottlingException: Too many tokens, please wait before trying again.", Failure.BUSY),
    # Checks of single parameters.
    (400, "string_above_max_length", "", "Invalid metadata: its maximum context length is 8 characters", Failure.INVALID),
    (400, "", "", "Invalid 'user': string too long. Its maximum context length is 64", Failure.INVALID),
    (400, "", "", "Rate limit: the maximum context length is 8 tokens a minute", Failure.INVALID),
    # What a person wrote and the provider quotes.
    (400, "", "invalid_request_error", "Invalid value: 'maximum context length is 8'. Supported values are: 'system'", Failure.INVALID),
    (400, "", "", 'Unexpected text "prompt is too long" in messages[3]', Failure.INVALID),
    (400, "", "", "messages[2]: my prompt is too long to read, he said", Failure.INVALID),
    # The rest.
    (429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan", Failure.QUOTA),
    (429, "", "", "You exceeded your current quota, please check your plan", Failure.QUOTA),
    (402, "", "", "Insufficient Balance", Failure.QUOTA),
    (400, "", "invalid_request_error", "Your credit balance is too low to access the API.", Failure.QUOTA),
    (400, "content_filter", "", "The response was filtered", Failure.FILTERED),
    (404, "model_not_found", "", "The model `x` does not exist", Failure.NOT_FOUND),
    (404, "", "", "404 page not found", Failure.NOT_FOUND),
    (400, "", "invalid_request_error", "Unknown parameter", Failure.INVALID),
    (422, "", "", "[{}]", Failure.INVALID),
    (None, "", "invalid_request_error", "Unknown parameter", Failure.INVALID),
    (408, "", "", "", Failure.BUSY),
    (409, "", "", "", Failure.BUSY),
    (500, "", "", "", Failure.BUSY),
    (503, "", "", "Loading model", Failure.BUSY),
    (529, "", "overloaded_error", "Overloaded", Failure.BUSY),
    (None, "server_error", "", "The server had an error", Failure.BUSY),
    (200, "502", "", "Provider returned error", Failure.BUSY),
    (None, "", "", "", Failure.BUSY),
]  # fmt: skip


@pytest.mark.parametrize(("status", "code", "kind", "text"), OVERFLOWS)
def test_what_a_provider_says_of_a_request_that_is_too_long_is_an_overflow(
    status: int | None, code: str, kind: str, text: str
) -> None:
    assert classify(status, code, kind, text) is Failure.OVERFLOW


@pytest.mark.parametrize(("status", "code", "kind", "text", "verdict"), OTHERS)
def test_everything_else_is_what_it_is(status: int | None, code: str, kind: str, text: str, verdict: Failure) -> None:
    assert classify(status, code, kind, text) is verdict


@pytest.mark.parametrize(("provider", "pattern"), WORDINGS)
def test_no_wording_of_the_table_is_without_a_row_here(provider: str, pattern: str) -> None:
    assert any(re.search(pattern, text.lower()) for _, _, _, text in OVERFLOWS), provider
