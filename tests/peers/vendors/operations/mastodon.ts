// The operations of Mastodon that are judged, with the types of masto, which writes names as JavaScript does.
import type { mastodon } from "masto";


export interface Operations {
    "POST /api/v1/apps": { body: mastodon.rest.v1.CreateAppParams; answers: { 200: mastodon.v1.Client } };
    "POST /oauth/token": { body: mastodon.oauth.CreateTokenParams; answers: { 200: mastodon.v1.Token } };
    "POST /oauth/revoke": { body: mastodon.oauth.RevokeTokenParams; answers: { 200: unknown } };
    "GET /api/v2/instance": { answers: { 200: mastodon.v2.Instance } };
    "GET /api/v1/accounts/verify_credentials": { answers: { 200: mastodon.v1.CredentialAccount } };
    "GET /api/v1/accounts/{id}/statuses": { query: mastodon.rest.v1.ListAccountStatusesParams; answers: { 200: mastodon.v1.Status[] } };
    "POST /api/v2/media": {
        body: mastodon.rest.v2.CreateMediaAttachmentParams;
        answers: { 200: mastodon.v1.MediaAttachment; 202: mastodon.v1.MediaAttachment };
    };
    "GET /api/v1/media/{id}": { answers: { 200: mastodon.v1.MediaAttachment; 206: mastodon.v1.MediaAttachment } };
    "PUT /api/v1/media/{id}": { body: mastodon.rest.v1.UpdateMediaAttachmentParams; answers: { 200: mastodon.v1.MediaAttachment } };
    "POST /api/v1/statuses": { body: mastodon.rest.v1.CreateStatusParams; answers: { 200: mastodon.v1.Status } };
    "GET /api/v1/statuses/{id}": { answers: { 200: mastodon.v1.Status } };
    "GET /api/v1/statuses/{id}/source": { answers: { 200: mastodon.v1.StatusSource } };
    "PUT /api/v1/statuses/{id}": { body: mastodon.rest.v1.UpdateStatusParams; answers: { 200: mastodon.v1.Status } };
    "DELETE /api/v1/statuses/{id}": { answers: { 200: mastodon.v1.Status } };
}
