// Creates, lists over two pages, changes, reads a refusal and deletes, with the client of openapi-generator.
import { Configuration, PostsApi, ResponseError, type ModelError } from '../typescript-fetch/index.js';

const [origin, accessToken, account] = process.argv.slice(2);
const posts = new PostsApi(new Configuration({ basePath: origin!, accessToken: accessToken! }));
const accountId = Number(account);

function check(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

async function draft(caption: string): Promise<number> {
  const made = await posts.createPost({ newPost: { accountId, caption, status: 'draft' } });
  check(made.outcome === 'created', made);
  return made.post.id;
}

async function refusal(call: Promise<unknown>): Promise<ModelError> {
  const error = await call.then(() => undefined, (error: unknown) => error);
  check(error instanceof ResponseError, error);
  return (await error.response.json()) as ModelError;
}

const checked = await posts.createPost({ newPost: { accountId, caption: 'A', dryRun: true } });
check(checked.outcome === 'checked' && checked.post.caption === 'A', checked);

const first = await draft('One');
const second = await draft('Two');
const page = await posts.listPosts({ limit: 1 });
check(page.posts.length === 1 && page.posts[0]?.id === second && page.nextCursor !== null, page);
const rest = await posts.listPosts({ limit: 1, cursor: page.nextCursor });
check(rest.posts.length === 1 && rest.posts[0]?.id === first, rest);

const changed = await posts.updatePost({ id: first, postChanges: { caption: 'Three' } });
check(changed.post.caption === 'Three' && changed.post.error === null, changed);

const refused = await refusal(posts.createPost({ newPost: { accountId, caption: 'x'.repeat(400) } }));
check(refused.code === 'caption_too_long', refused);

for (const id of [first, second]) await posts.deletePost({ id });
const absent = await refusal(posts.getPost({ id: first }));
check(absent.code === 'post_not_found', absent);
