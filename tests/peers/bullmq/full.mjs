// A publish job as a plain, careful user of BullMQ writes it: two statements to claim, the call, and one
// transaction for the result. Seven round trips to PostgreSQL.
import { publish } from "./platform.mjs";

const CLAIM = `UPDATE bullmq.posts
  SET status = 'publishing', fence = fence + 1, lease_until = now() + interval '60 seconds'
  WHERE id = $1 AND (status = 'scheduled' OR (status = 'publishing' AND lease_until < now()))
  RETURNING id, caption, fence`;
const START = "INSERT INTO bullmq.attempts (post_id, number) VALUES ($1, $2) RETURNING id";
const RECORD = `UPDATE bullmq.posts
  SET status = $3, remote_id = $4, published_at = CASE WHEN $3 = 'published' THEN now() END, lease_until = NULL
  WHERE id = $1 AND fence = $2`;
const FINISH = "UPDATE bullmq.attempts SET finished_at = now(), outcome = $2, status_code = $3 WHERE id = $1";
const EMIT = "INSERT INTO bullmq.events (post_id, kind, payload) VALUES ($1, $2, $3)";

async function record(pool, post, attemptId, reply) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const status = reply.ok ? "published" : "scheduled"; // so that BullMQ's retry can claim it again
    const kept = await client.query(RECORD, [post.id, post.fence, status, reply.remoteId]);
    if (kept.rowCount !== 1) throw new Error(`post ${post.id} was claimed by another worker`);
    await client.query(FINISH, [attemptId, reply.ok ? "published" : "failed", reply.status]);
    const kind = reply.ok ? "post.published" : "post.attempt_failed";
    await client.query(EMIT, [post.id, kind, { remote_id: reply.remoteId, status: reply.status }]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

export async function full(pool, postId) {
  const claimed = await pool.query(CLAIM, [postId]);
  if (claimed.rowCount === 0) return; // published already, or in another worker's hands
  const post = claimed.rows[0];
  const started = await pool.query(START, [post.id, post.fence]);
  const reply = await publish(post);
  await record(pool, post, started.rows[0].id, reply);
  if (!reply.ok) throw new Error(`the platform answered ${reply.status}`);
}
