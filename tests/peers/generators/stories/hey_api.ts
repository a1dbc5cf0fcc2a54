// The same with Hey API's openapi-ts.
import { client } from '../hey-api/client.gen.js';
import { createPost, deletePost, getPost, listPosts, updatePost } from '../hey-api/index.js';

const [origin, key, account] = process.argv.slice(2);
client.setConfig({ baseUrl: origin!, auth: () => key! });
const account_id = Number(account);

function check(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

async function draft(caption: string): Promise<number> {
  const { data, error } = await createPost({ body: { account_id, caption, status: 'draft' } });
  check(data?.outcome === 'created', error);
  return data.post.id;
}

const checked = await createPost({ body: { account_id, caption: 'A', dry_run: true } });
check(checked.data?.outcome === 'checked' && checked.data.post.caption === 'A', checked.error);

const first = await draft('One');
const second = await draft('Two');
const page = await listPosts({ query: { limit: 1 } });
check(page.data?.posts.length === 1 && page.data.posts[0]?.id === second, page.error);
const cursor = page.data.next_cursor;
check(cursor !== null, page.data);
const rest = await listPosts({ query: { limit: 1, cursor } });
check(rest.data?.posts.length === 1 && rest.data.posts[0]?.id === first, rest.error);

const changed = await updatePost({ path: { id: first }, body: { caption: 'Three' } });
check(changed.data?.post.caption === 'Three' && changed.data.post.error === null, changed.error);

const refused = await createPost({ body: { account_id, caption: 'x'.repeat(400) } });
check(refused.error?.code === 'caption_too_long', refused);

for (const id of [first, second]) {
  const gone = await deletePost({ path: { id } });
  check(gone.error === undefined, gone.error);
}
const absent = await getPost({ path: { id: first } });
check(absent.error?.code === 'post_not_found', absent);
