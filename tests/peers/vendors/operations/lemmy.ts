// The operations of Lemmy that are judged, with the types of its own client.
import type * as L from "lemmy-js-client";

export interface Operations {
    "POST /api/v3/user/login": { body: L.Login; answers: { 200: L.LoginResponse } };
    "GET /api/v3/site": { answers: { 200: L.GetSiteResponse } };
    "GET /api/v3/community": { query: L.GetCommunity; answers: { 200: L.GetCommunityResponse } };
    "GET /api/v3/community/list": { query: L.ListCommunities; answers: { 200: L.ListCommunitiesResponse } };
    "GET /api/v3/resolve_object": { query: L.ResolveObject; answers: { 200: L.ResolveObjectResponse } };
    "GET /api/v3/user": { query: L.GetPersonDetails; answers: { 200: L.GetPersonDetailsResponse } };
    "GET /api/v3/post": { query: L.GetPost; answers: { 200: L.GetPostResponse } };
    "POST /api/v3/post": { body: L.CreatePost; answers: { 200: L.PostResponse } };
    "PUT /api/v3/post": { body: L.EditPost; answers: { 200: L.PostResponse } };
    "POST /api/v3/post/delete": { body: L.DeletePost; answers: { 200: L.PostResponse } };
    // The client names its own argument `image`, and sends a list.
    "POST /pictrs/image": { body: { images?: unknown[] }; answers: { 201: L.UploadImageResponse } };
}
