//! Who is to blame for a provider's refusal: a row for each answer that its vendor documents, or was seen to give.
//!
//! Above a row stands where it is from: the vendor's page, "seen" with a report of it, or "no source" for what we take to
//! be so. Vendors' codes count, and words only where a vendor has no code. No row has a status of 500 or more: a provider
//! that fails says nothing about the content.

use super::Blame::{self, Content, Operator, Retired};

/// An interface of a provider, with errors of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interface {
    /// Chat completions as OpenAI has them. xAI, Google, OpenRouter, DeepSeek and Azure have them too, each with its own errors.
    Chat,
    /// Google's `generateContent`.
    Google,
    /// Google's Interactions.
    Interactions,
    /// Google's Vertex AI; an operation's code stands for the status.
    Vertex,
    /// xAI's images and videos.
    Xai,
    /// The tokens of a service account.
    Tokens,
}

use Interface::{Chat, Google, Interactions, Tokens, Vertex, Xai};

/// What an answer has in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sign {
    /// Nothing in particular: the status is enough.
    Any,
    /// One of these codes, in any of the places that vendors have for them.
    Code(&'static [&'static str]),
    /// One of these values, at this place.
    Value(&'static str, &'static [&'static str]),
    /// Something other than nothing, at this place.
    Filled(&'static str),
    /// Words of the message, in lower case.
    Words(&'static str),
}

use Sign::{Any, Code, Filled, Value, Words};

/// A row: the interfaces, the statuses, the sign, and who is to blame.
pub(super) type Row = (&'static [Interface], &'static [u16], Sign, Blame);

/// The first row that fits counts.
pub(super) const ROWS: &[Row] = &[
    // https://platform.openai.com/docs/guides/structured-outputs#refusals
    (&[Chat], &[200], Filled("/choices/0/message/refusal"), Content),
    // https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter
    (&[Chat], &[200], Value("/choices/0/finish_reason", &["content_filter"]), Content),
    (&[Chat], &[400], Code(&["content_filter", "ResponsibleAIPolicyViolation"]), Content),
    // Seen: https://portkey.ai/error-library, https://docs.apiyi.com/en/faq/gpt-image-content-moderation
    (&[Chat], &[400, 403, 422], Code(&["content_policy_violation", "moderation_blocked"]), Content),
    // No source: gateways hand their vendor's code on with another status.
    (&[Chat], &[403, 422], Code(&["content_filter"]), Content),
    // No source: OpenAI's word for a prompt that it takes to break its rules.
    (&[Chat], &[400], Code(&["invalid_prompt"]), Content),
    // https://openrouter.ai/docs/api/reference/errors-and-debugging, "Moderation errors"
    (&[Chat], &[403], Filled("/error/metadata/flagged_input"), Content),
    (&[Chat], &[403], Filled("/error/metadata/reasons"), Content),
    // Seen: https://github.com/deepseek-ai/awesome-deepseek-integration/issues/13
    (&[Chat], &[400], Words("content exists risk"), Content),
    // https://learn.microsoft.com/microsoft-cloud/dev/dev-proxy/concepts/openai-insufficient-quota
    (
        &[Chat],
        &[429],
        Code(&[
            "insufficient_quota",
            "credit_balance_exhausted",
            "organization_spend_limit_exceeded",
            "project_spend_limit_exceeded",
            "organization_usage_limit_exceeded",
        ]),
        Operator,
    ),
    // Seen: https://kerlig.com/help/open-ai/troubleshooting
    (&[Chat], &[400, 429], Code(&["billing_not_active", "billing_hard_limit_reached"]), Operator),
    // No source: Anthropic's words for an account without money.
    (&[Chat], &[400], Words("credit balance is too low"), Operator),
    // Seen: https://github.com/UKGovernmentBEIS/inspect_ai/pull/2267, https://github.com/theopenco/llmgateway/pull/1785.
    // The code beside it is that of a missing permission.
    (&[Chat, Xai], &[400, 403], Words("safety_check_type"), Content),
    (&[Chat, Xai], &[400, 403], Words("content violates usage guidelines"), Content),
    // Seen: https://docs.apiyi.com/en/api-capabilities; there is no code.
    (&[Chat, Xai], &[400, 422], Words("content moderation"), Content),
    (&[Chat, Xai], &[400, 422], Words("rejected by moderation"), Content),
    // xAI's SDK for Python, `video.respect_moderation`
    (&[Xai], &[200], Value("/video/respect_moderation", &["false"]), Content),
    // Seen: https://docs.x.ai as resellers quote it.
    (&[Chat, Xai], &[404], Code(&["model_unavailable"]), Retired),
    // https://platform.openai.com/docs/guides/error-codes, https://ai.google.dev/gemini-api/docs/api-errors
    (&[Chat, Interactions], &[404], Code(&["model_not_found"]), Retired),
    // Seen: https://docs.apiyi.com/en/live/2026-10/veo-3-1-preview-retired
    (&[Chat, Google, Interactions, Vertex, Xai], &[404], Words("no longer available"), Retired),
    // https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/process-blocked-responses
    (&[Google], &[200], Filled("/promptFeedback/blockReason"), Content),
    // https://ai.google.dev/api/generate-content#FinishReason; those of images:
    // https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/gemini-image-responsible-ai
    (
        &[Google],
        &[200],
        Value(
            "/candidates/0/finishReason",
            &[
                "SAFETY",
                "RECITATION",
                "BLOCKLIST",
                "PROHIBITED_CONTENT",
                "SPII",
                "IMAGE_SAFETY",
                "IMAGE_PROHIBITED_CONTENT",
                "IMAGE_RECITATION",
            ],
        ),
        Content,
    ),
    // https://ai.google.dev/gemini-api/docs/troubleshooting: no billing, or not in this country
    (
        &[Chat, Google, Interactions, Vertex],
        &[400],
        Code(&["FAILED_PRECONDITION", "failed_precondition"]),
        Operator,
    ),
    // https://cloud.google.com/apis/design/errors, `ErrorInfo.reason`
    (&[Chat, Google, Interactions, Vertex], &[400], Code(&["API_KEY_INVALID"]), Operator),
    // https://ai.google.dev/gemini-api/docs/api-errors, "Generation blocked codes"; it names no status.
    (
        &[Interactions],
        &[200, 400, 403, 422],
        Code(&[
            "safety",
            "recitation",
            "language",
            "prohibited_content",
            "spii",
            "blocklist",
            "image_safety",
            "image_prohibited_content",
            "image_recitation",
            "image_other",
            "content_blocked",
        ]),
        Content,
    ),
    // The same page: the day's quota, which no short wait brings back.
    (&[Interactions], &[429], Code(&["quota_exceeded"]), Operator),
    // The same page, as the reason of an interaction that failed later.
    (
        &[Interactions],
        &[200],
        Code(&[
            "authentication",
            "permission_denied",
            "payment_required",
            "failed_precondition",
            "quota_exceeded",
        ]),
        Operator,
    ),
    // No source: Google's SDK has the status, and no page says whose budget it is.
    (&[Interactions], &[200], Value("/status", &["budget_exceeded"]), Operator),
    // https://cloud.google.com/vertex-ai/generative-ai/docs/video/responsible-ai-and-usage-guidelines
    (&[Vertex], &[200], Filled("/response/raiMediaFilteredCount"), Content),
    (&[Vertex], &[400], Words("support codes:"), Content),
    (&[Vertex], &[400], Words("usage guidelines"), Content),
    // No source: the words of Google's image models, kept for its videos.
    (&[Google, Vertex], &[400], Words("responsible ai practices"), Content),
    // RFC 6749, 5.2: all of them are about the account.
    (&[Tokens], &[400], Any, Operator),
    // RFC 9110, and each vendor: a key that is missing, barred or without money, and what it may not do.
    (&[Chat, Google, Interactions, Vertex, Xai, Tokens], &[401, 402, 403], Any, Operator),
    // RFC 6585, RFC 9110; 529 is Anthropic's: https://platform.claude.com/docs/en/api/errors
    (&[Chat, Google, Interactions, Vertex, Xai, Tokens], &[429, 503, 529], Any, Blame::Nobody),
];
