// The operations of Discord that are judged, with types made from its OpenAPI.
import type { Paths } from "discord-api-spec";

type Hook = Paths["/webhooks/{webhook_id}/{webhook_token}"];
type Message = Paths["/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"];
// With files the JSON is one part of a form.
type WithFiles<B> = B & { payload_json?: B; files?: unknown[] };

export interface Operations {
    "GET /api/v10/webhooks/{webhook_id}/{webhook_token}": { answers: { 200: Hook["get"]["responses"]["200"] } };
    "POST /api/v10/webhooks/{webhook_id}/{webhook_token}": {
        query: Hook["post"]["parameters"]["query"];
        body: WithFiles<NonNullable<Hook["post"]["requestBody"]>>;
        answers: { 200: Hook["post"]["responses"]["200"]; 204: unknown };
    };
    "GET /api/v10/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": {
        query: Message["get"]["parameters"]["query"];
        answers: { 200: Message["get"]["responses"]["200"] };
    };
    "PATCH /api/v10/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": {
        query: Message["patch"]["parameters"]["query"];
        body: WithFiles<NonNullable<Message["patch"]["requestBody"]>>;
        answers: { 200: Message["patch"]["responses"]["200"] };
    };
    "DELETE /api/v10/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": {
        query: Message["delete"]["parameters"]["query"];
        answers: { 204: unknown };
    };
}
