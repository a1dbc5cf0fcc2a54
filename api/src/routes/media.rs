//! Routes of media.

use super::parts::{NEW_FILE, NEW_REMOTE, NEW_UPLOAD, REFUSED_FILE, RELAY, UPLOAD, reads, writes};
use crate::{Body, Bucket, Method, Query, Route, WorkspaceScope, media};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_publishing::media::{
    MediaQuery, NewFile, NewImport, guest_uploads::NewGuestUpload, signed::NewUpload,
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Post, "/api/v1/media/upload", "upload_media",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::upload)
        .doc("media", "Upload a small file, in base64 or as a form; location metadata is removed, as in every upload")
        .when("Use it for files up to about 4 MB; larger ones need a signed upload.")
        .counts_against(Bucket::Media)
        .takes_body(Body::of::<NewFile>(NEW_FILE))
        .takes_form()
        .max_body(UPLOAD, Code::PayloadTooLarge)
        .answers(201, "The file.")
        .refuses(REFUSED_FILE),
    Route::new(Method::Post, "/api/v1/media/signed-upload", "create_signed_upload",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::announce)
        .doc("media", "Get an upload URL for a file of any size; send the file with PUT within 15 minutes")
        .when("Use it for videos and large pictures; small files go in one request.")
        .core()
        .counts_against(Bucket::Media)
        .takes_body(Body::of::<NewUpload>(NEW_UPLOAD))
        .answers(201, "The address and headers to send the file with; the reply to that request has `asset_id`.")
        .refuses(&[Code::MediaTypeUnsupported, Code::MediaTooLarge]),
    Route::new(Method::Post, "/api/v1/media/signed-upload/upload", "relay_media",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::relay)
        .doc("media", "Upload a small file (legacy address); use `/media/upload` or `/media/signed-upload` instead")
        .when("Use it only in old clients; new ones use the other uploads.")
        .counts_against(Bucket::Media)
        .takes_body(Body::of::<NewFile>(NEW_FILE))
        .takes_form()
        .max_body(RELAY, Code::FunctionPayloadTooLarge)
        .answers(201, "The file.")
        .refuses(REFUSED_FILE),
    Route::new(Method::Post, "/api/v1/media/upload-from-url", "upload_media_from_url",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::from_url)
        .doc("media", "Copy a file from another address")
        .when("Use it to keep a file that is public elsewhere; not needed before a post, which copies its files itself.")
        .core()
        .counts_against(Bucket::Media)
        .takes_body(Body::of::<NewImport>(NEW_REMOTE))
        .answers(201, "The file; its `url` can be used as `media_url`.")
        .refuses(&[Code::MediaTypeUnsupported, Code::RemoteMediaTooLarge, Code::RemoteMediaUnavailable,
            Code::UrlNotAllowed, Code::MediaCopyPending]),
    Route::new(Method::Post, "/api/v1/media/drop-sessions", "create_media_drop",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::create_drop)
        .doc("media", "Create a page on which a person without a log-in can upload files for a day")
        .when("Use it when a person has the files and you have no access to them; not for files that you can send.")
        .core()
        .counts_against(Bucket::Media)
        .takes_body(Body::of::<NewGuestUpload>(r#"{"filename": "the team photo", "max_files": 3}"#))
        .answers(201, "The page."),
    Route::new(Method::Get, "/api/v1/media", "list_media", reads(Scope::MediaWrite, WorkspaceScope::Query),
        &media::list)
        .doc("media", "List files, newest first")
        .when("Use it to find files that are stored already; not to learn whether a post has them.")
        .core()
        .takes_query(Query::of::<MediaQuery>())
        .answers(200, "A page of files."),
    Route::new(Method::Delete, "/api/v1/media/{id}", "delete_media",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Media), &media::delete)
        .doc("media", "Delete a file that no unpublished post uses")
        .when("Use it to remove a file that no waiting post needs; posts that are public keep theirs.")
        .answers(200, "It is deleted.")
        .refuses(&[Code::MediaInUse]),
];
