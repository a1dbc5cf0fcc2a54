"""What is read: the descriptions of each network, and the operations that a connector or simulator knows.

`masks` names the types whose fields a mask of fields may name. `open` says whether objects take names that they do not know. Answers are read `depth` references deep."""

DISCOVERY_CACHE = "PyPI, google-api-python-client, googleapiclient/discovery_cache/documents"
SEEN = "2026-11-26"


def google(file, source, operations, **more):
    """Returns a discovery document that is read."""
    return {
        "file": file, "kind": "discovery", "source": source, "seen": SEEN, "obtained": DISCOVERY_CACHE,
        "from": f"Google's discovery document {file} (google-api-python-client 2.202.0, Apache-2.0)",
        "operations": operations, **more,
    }


BLUESKY = {
    "file": "atproto-lexicons.tar.gz", "kind": "lexicons", "source": "lexicons", "seen": SEEN, "extract": True,
    "obtained": "github.com/bluesky-social/atproto, folder lexicons/, as a tar.gz",
    "from": "github bluesky-social/atproto d6296a1 of 2026-08-20 (MIT or Apache-2.0)",
    "records": ["app.bsky.feed.post", "app.bsky.feed.postgate", "app.bsky.feed.threadgate"],
    "operations": {
        "log in": "com.atproto.server.createSession",
        "refresh": "com.atproto.server.refreshSession",
        "log out": "com.atproto.server.deleteSession",
        "session": "com.atproto.server.getSession",
        "server": "com.atproto.server.describeServer",
        "service token": "com.atproto.server.getServiceAuth",
        "resolve handle": "com.atproto.identity.resolveHandle",
        "upload": "com.atproto.repo.uploadBlob",
        "create record": "com.atproto.repo.createRecord",
        "put record": "com.atproto.repo.putRecord",
        "delete record": "com.atproto.repo.deleteRecord",
        "write": "com.atproto.repo.applyWrites",
        "record": "com.atproto.repo.getRecord",
        "records": "com.atproto.repo.listRecords",
        "repository": "com.atproto.repo.describeRepo",
        "posts": "app.bsky.feed.getPosts",
        "author feed": "app.bsky.feed.getAuthorFeed",
        "profile": "app.bsky.actor.getProfile",
        "video limits": "app.bsky.video.getUploadLimits",
        "upload video": "app.bsky.video.uploadVideo",
        "video job": "app.bsky.video.getJobStatus",
        "start upload": "app.bsky.video.startUpload",
        "upload part": "app.bsky.video.uploadPart",
        "finish upload": "app.bsky.video.finishUpload",
        "abort upload": "app.bsky.video.abortUpload",
        "upload status": "app.bsky.video.getUploadStatus",
    },
    "metrics": [{
        "type": "app.bsky.feed.defs.postView", "on": "post", "period": "lifetime",
        "only": ["likeCount", "replyCount", "repostCount", "quoteCount", "bookmarkCount"],
    }],
}

DISCORD = {
    "file": "discord.json", "kind": "openapi", "source": "api", "seen": SEEN,
    "obtained": "github.com/discord/discord-api-spec, specs/openapi.json",
    "from": "github discord/discord-api-spec 74fda0f of 2026-07-18 (MIT)", "base": "/api/v10",
    "operations": {
        "webhook": "GET /webhooks/{webhook_id}/{webhook_token}",
        "execute": "POST /webhooks/{webhook_id}/{webhook_token}",
        "message": "GET /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
        "edit message": "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
        "delete message": "DELETE /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}",
    },
}

PINTEREST = {
    "file": "pinterest.json", "kind": "openapi", "source": "api", "seen": SEEN,
    "obtained": "github.com/pinterest/api-description, v5/openapi.json",
    "from": "github pinterest/api-description 5.23.0 of 2025-12-11 (MIT)", "base": "/v5",
    "security": "pinterest_oauth2",
    "operations": {
        "token": "POST /oauth/token",
        "me": "GET /user_account",
        "account analytics": "GET /user_account/analytics",
        "boards": "GET /boards",
        "board": "GET /boards/{board_id}",
        "pins of a board": "GET /boards/{board_id}/pins",
        "pins": "GET /pins",
        "create pin": "POST /pins",
        "pin": "GET /pins/{pin_id}",
        "delete pin": "DELETE /pins/{pin_id}",
        "pin analytics": "GET /pins/{pin_id}/analytics",
        "register media": "POST /media",
        "media": "GET /media/{media_id}",
    },
    "metrics": [
        {"operation": "account analytics", "parameter": "metric_types", "on": "account", "period": "day"},
        {
            "operation": "pin analytics", "parameter": "metric_types", "on": "pin", "period": "day",
            "not": ["TOTAL_COMMENTS", "TOTAL_REACTIONS"],
        },
        {
            "operation": "pin analytics", "parameter": "metric_types", "on": "pin", "period": "lifetime",
            "only": ["TOTAL_COMMENTS", "TOTAL_REACTIONS"],
        },
    ],
    "metrics_on": {"account analytics": ["account"], "pin analytics": ["pin"]},
}

SLACK = {
    "file": "slack.schema.json", "kind": "slack", "source": "types", "seen": SEEN,
    "obtained": "JSON Schemas made of the types of npm @slack/web-api, one for each …Arguments and …Response",
    "from": "the types of Slack's own client (MIT)",
    # What only reads can be asked by GET; what Slack takes as a form alone.
    "reads": [
        "auth.test", "conversations.list", "conversations.info", "conversations.history", "chat.getPermalink",
        "files.info", "files.getUploadURLExternal",
    ],
    "forms": ["oauth.v2.access", "auth.revoke"],
    "operations": {
        "token": "oauth.v2.access",
        "me": "auth.test",
        "revoke": "auth.revoke",
        "channels": "conversations.list",
        "channel": "conversations.info",
        "join": "conversations.join",
        "history": "conversations.history",
        "post message": "chat.postMessage",
        "permalink": "chat.getPermalink",
        "place for a file": "files.getUploadURLExternal",
        "share files": "files.completeUploadExternal",
        "file": "files.info",
    },
}

TELEGRAM = {
    "file": "telegram.json", "kind": "telegram", "source": "table", "seen": SEEN,
    "obtained": "github.com/PaulSonOfLars/telegram-bot-api-spec, api.json, its descriptions replaced by limits",
    "from": "github PaulSonOfLars/telegram-bot-api-spec 160fd99 of 2026-06-18: names and types (MIT)",
    "operations": {
        "me": "getMe",
        "chat": "getChat",
        "member": "getChatMember",
        "send message": "sendMessage",
        "send photo": "sendPhoto",
        "send video": "sendVideo",
        "send animation": "sendAnimation",
        "send document": "sendDocument",
        "send audio": "sendAudio",
        "send live photo": "sendLivePhoto",
        "send album": "sendMediaGroup",
        "send poll": "sendPoll",
        "delete message": "deleteMessage",
    },
}

YOUTUBE = google("youtube.v3.json", "api", {
    "upload": "videos.insert",
    "set thumbnail": "thumbnails.set",
    "channels": "channels.list",
    "videos": "videos.list",
    "statistics": "videos.batchGetStats",
    "playlists": "playlists.list",
    "playlist items": "playlistItems.list",
    "add to playlist": "playlistItems.insert",
}, uploads={"videos.insert": "resumable", "thumbnails.set": "simple"}, parts={
    "videos.insert": "Video", "videos.list": "Video", "videos.batchGetStats": "VideoStat",
    "channels.list": "Channel", "playlists.list": "Playlist", "playlistItems.list": "PlaylistItem",
    "playlistItems.insert": "PlaylistItem",
}, metrics=[
    {"type": "VideoStatistics", "on": "video", "period": "lifetime"},
    {"type": "VideoStatsStatistics", "on": "video of a batch", "period": "lifetime"},
    {
        "type": "ChannelStatistics", "on": "channel now", "period": "now",
        "only": ["subscriberCount", "videoCount", "viewCount"],
    },
])

BUSINESS = [
    google("mybusinessaccountmanagement.v1.json", "accounts", {"accounts": "accounts.list"}),
    google("mybusinessbusinessinformation.v1.json", "information", {
        "locations": "accounts.locations.list", "location": "locations.get",
    }, masks={"accounts.locations.list": "Location", "locations.get": "Location"}),
    google("mybusinessverifications.v1.json", "verifications", {
        "voice of merchant": "locations.getVoiceOfMerchantState",
    }),
    google("businessprofileperformance.v1.json", "performance", {
        "daily metrics": "locations.fetchMultiDailyMetricsTimeSeries",
    }, metrics=[{
        "operation": "daily metrics", "parameter": "dailyMetrics", "on": "location", "period": "day",
        "not": ["DAILY_METRIC_UNKNOWN"],
    }], metrics_on={"daily metrics": ["location"]}),
]

NETWORKS = {
    "bluesky": {"open": True, "depth": 3, "descriptions": [BLUESKY]},
    "discord": {"open": True, "depth": 2, "descriptions": [DISCORD]},
    "pinterest": {"open": True, "depth": 6, "descriptions": [PINTEREST]},
    "slack": {"open": True, "depth": 3, "descriptions": [SLACK]},
    "telegram": {"open": True, "depth": 2, "descriptions": [TELEGRAM]},
    "youtube": {"open": False, "depth": 6, "descriptions": [
        YOUTUBE, google("youtubeAnalytics.v2.json", "analytics", {"report": "reports.query"},
                        metrics_on={"report": ["channel"]}),
    ]},
    "google_business": {"open": False, "depth": 6, "descriptions": BUSINESS},
}
