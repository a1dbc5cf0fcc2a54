// The one remote call of a job, over connections that are kept open.
import { Agent, request } from "undici";
import { concurrency, targetUrl } from "./settings.mjs";

const dispatcher = new Agent({ connections: concurrency });
const url = targetUrl();

/** Sends a post; answers the status, and the `id` the platform's JSON reply names, if any. */
export async function publish(post) {
  const { statusCode, body } = await request(url, {
    dispatcher,
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `post-${post.id}` },
    body: JSON.stringify({ text: post.caption }),
  });
  const text = await body.text();
  const ok = statusCode >= 200 && statusCode < 300;
  return { ok, status: statusCode, remoteId: ok && text.startsWith("{") ? JSON.parse(text).id : undefined };
}
