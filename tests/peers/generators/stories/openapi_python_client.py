"""Creates, lists over two pages, changes, reads a refusal and deletes, with the client of openapi-python-client."""

import sys

from fanfare_client import AuthenticatedClient
from fanfare_client.api.posts import create_post, delete_post, get_post, list_posts, update_post
from fanfare_client.models import CreatedPost, DryRun, Error, NewPost, NewStatus, PostChanges

origin, key, account = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = AuthenticatedClient(base_url=origin, token=key)


def draft(caption: str) -> int:
    made = create_post.sync(
        client=client, body=NewPost(account_id=account, caption=caption, status=NewStatus.DRAFT)
    )
    assert isinstance(made, CreatedPost), made
    return made.post.id


checked = create_post.sync(client=client, body=NewPost(account_id=account, caption="A", dry_run=True))
assert isinstance(checked, DryRun) and checked.post.caption == "A", checked

first, second = draft("One"), draft("Two")
page = list_posts.sync(client=client, limit=1)
assert page is not None and not isinstance(page, Error), page
assert [post.id for post in page.posts] == [second], page
assert isinstance(page.next_cursor, str), page
rest = list_posts.sync(client=client, limit=1, cursor=page.next_cursor)
assert rest is not None and not isinstance(rest, Error), rest
assert [post.id for post in rest.posts] == [first], rest

changed = update_post.sync(first, client=client, body=PostChanges(caption="Three"))
assert changed is not None and not isinstance(changed, Error), changed
assert changed.post.caption == "Three" and changed.post.error is None, changed

refused = create_post.sync(client=client, body=NewPost(account_id=account, caption="x" * 400))
assert isinstance(refused, Error), refused
assert refused.code == "caption_too_long" and refused.request_id, refused

for post in (first, second):
    gone = delete_post.sync(post, client=client)
    assert gone is not None and not isinstance(gone, Error), gone
absent = get_post.sync(first, client=client)
assert isinstance(absent, Error) and absent.code == "post_not_found", absent
