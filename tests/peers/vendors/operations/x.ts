// The operations of X that are judged, with the types of its own client, which writes names as JavaScript does.
import type { Media, MediaClient, Posts, PostsClient, Users, UsersClient } from "@xdevplatform/xdk";

type Known<T> = { [K in keyof T as string extends K ? never : K extends "requestOptions" ? never : K]: T[K] };

export interface Operations {
    "GET /2/users/me": { query: Known<Parameters<UsersClient["getMe"]>[0]>; answers: { 200: Users.GetMeResponse } };
    "GET /2/users/{id}/tweets": { query: Known<Parameters<UsersClient["getPosts"]>[1]>; answers: { 200: Users.GetPostsResponse } };
    "GET /2/tweets": { query: Known<Parameters<PostsClient["getByIds"]>[1]> & { ids: string[] }; answers: { 200: Posts.GetByIdsResponse } };
    "GET /2/tweets/{id}": { query: Known<Parameters<PostsClient["getById"]>[1]>; answers: { 200: Posts.GetByIdResponse } };
    "POST /2/tweets": { body: Posts.CreateRequest; answers: { 201: Posts.CreateResponse } };
    "DELETE /2/tweets/{id}": { answers: { 200: Posts.DeleteResponse } };
    "POST /2/media/upload": { body: Media.UploadRequest; answers: { 200: Media.UploadResponse } };
    "GET /2/media/upload": {
        query: Known<Parameters<MediaClient["getUploadStatus"]>[1]> & { mediaId: string };
        answers: { 200: Media.GetUploadStatusResponse };
    };
    "POST /2/media/upload/initialize": { body: Media.InitializeUploadRequest; answers: { 200: Media.InitializeUploadResponse } };
    "POST /2/media/upload/{id}/append": { body: Media.AppendUploadRequest; answers: { 200: Media.AppendUploadResponse } };
    "POST /2/media/upload/{id}/finalize": { answers: { 200: Media.FinalizeUploadResponse } };
    "POST /2/media/metadata": { body: Media.CreateMetadataRequest; answers: { 200: Media.CreateMetadataResponse } };
}
