"""The same with the Python client of openapi-generator."""

import json
import sys

from openapi_client import ApiClient, Configuration, PostsApi
from openapi_client.exceptions import ApiException
from openapi_client.models.created_post import CreatedPost
from openapi_client.models.dry_run import DryRun
from openapi_client.models.error import Error
from openapi_client.models.new_post import NewPost
from openapi_client.models.new_status import NewStatus
from openapi_client.models.post_changes import PostChanges

origin, key, account = sys.argv[1], sys.argv[2], int(sys.argv[3])
posts = PostsApi(ApiClient(Configuration(host=origin, access_token=key)))


def draft(caption: str) -> int:
    new = NewPost(account_id=account, caption=caption, status=NewStatus.DRAFT)
    made = posts.create_post(new).actual_instance
    assert isinstance(made, CreatedPost), made
    return made.post.id


new = NewPost(account_id=account, caption="A", dry_run=True)
checked = posts.create_post(new).actual_instance
assert isinstance(checked, DryRun) and checked.post.caption == "A", checked

first, second = draft("One"), draft("Two")
page = posts.list_posts(limit=1)
assert [post.id for post in page.posts] == [second], page
rest = posts.list_posts(limit=1, cursor=page.next_cursor)
assert [post.id for post in rest.posts] == [first], rest

changed = posts.update_post(first, post_changes=PostChanges(caption="Three"))
assert changed.post.caption == "Three" and changed.post.error is None, changed

try:
    posts.create_post(NewPost(account_id=account, caption="x" * 400))
    raise SystemExit("a text that is too long was taken")
except ApiException as refused:
    error = Error.from_dict(json.loads(str(refused.body)))
    assert error is not None and error.code == "caption_too_long" and error.request_id, error

for post in (first, second):
    posts.delete_post(post)
try:
    posts.get_post(first)
    raise SystemExit("a deleted post is there")
except ApiException as absent:
    assert absent.status == 404, absent
