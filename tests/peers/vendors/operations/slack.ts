// The operations of Slack that are judged, with the types of its own client.
import type * as S from "@slack/web-api";

type Call<A, R> = { body: A; answers: { 200: R & { ok: boolean } } };
type Read<A, R> = { query: A; answers: { 200: R & { ok: boolean } } };

export interface Operations {
    "POST /api/oauth.v2.access": Call<S.OAuthV2AccessArguments, S.OauthV2AccessResponse>;
    "POST /api/auth.revoke": Call<S.AuthRevokeArguments, S.AuthRevokeResponse>;
    "POST /api/auth.test": Call<S.AuthTestArguments, S.AuthTestResponse>;
    "GET /api/auth.test": Read<S.AuthTestArguments, S.AuthTestResponse>;
    "POST /api/conversations.list": Call<S.ConversationsListArguments, S.ConversationsListResponse>;
    "GET /api/conversations.list": Read<S.ConversationsListArguments, S.ConversationsListResponse>;
    "POST /api/conversations.info": Call<S.ConversationsInfoArguments, S.ConversationsInfoResponse>;
    "GET /api/conversations.info": Read<S.ConversationsInfoArguments, S.ConversationsInfoResponse>;
    "POST /api/conversations.join": Call<S.ConversationsJoinArguments, S.ConversationsJoinResponse>;
    "POST /api/conversations.history": Call<S.ConversationsHistoryArguments, S.ConversationsHistoryResponse>;
    "GET /api/conversations.history": Read<S.ConversationsHistoryArguments, S.ConversationsHistoryResponse>;
    "POST /api/conversations.replies": Call<S.ConversationsRepliesArguments, S.ConversationsRepliesResponse>;
    "GET /api/conversations.replies": Read<S.ConversationsRepliesArguments, S.ConversationsRepliesResponse>;
    "POST /api/chat.postMessage": Call<S.ChatPostMessageArguments, S.ChatPostMessageResponse>;
    "POST /api/chat.update": Call<S.ChatUpdateArguments, S.ChatUpdateResponse>;
    "POST /api/chat.delete": Call<S.ChatDeleteArguments, S.ChatDeleteResponse>;
    "POST /api/chat.getPermalink": Call<S.ChatGetPermalinkArguments, S.ChatGetPermalinkResponse>;
    "GET /api/chat.getPermalink": Read<S.ChatGetPermalinkArguments, S.ChatGetPermalinkResponse>;
    "POST /api/files.getUploadURLExternal": Call<S.FilesGetUploadURLExternalArguments, S.FilesGetUploadURLExternalResponse>;
    "GET /api/files.getUploadURLExternal": Read<S.FilesGetUploadURLExternalArguments, S.FilesGetUploadURLExternalResponse>;
    "POST /api/files.completeUploadExternal": Call<S.FilesCompleteUploadExternalArguments, S.FilesCompleteUploadExternalResponse>;
    "POST /api/files.info": Call<S.FilesInfoArguments, S.FilesInfoResponse>;
    "GET /api/files.info": Read<S.FilesInfoArguments, S.FilesInfoResponse>;
}
