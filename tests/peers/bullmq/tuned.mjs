// The same job by someone who counts round trips: one prepared statement before the call, one after it.
import { publish } from "./platform.mjs";

const CLAIM = `WITH claimed AS (
    UPDATE bullmq.posts
    SET status = 'publishing', fence = fence + 1, lease_until = now() + interval '60 seconds'
    WHERE id = $1 AND (status = 'scheduled' OR (status = 'publishing' AND lease_until < now()))
    RETURNING id, caption, fence
  ), started AS (
    INSERT INTO bullmq.attempts (post_id, number) SELECT id, fence FROM claimed RETURNING id
  )
  SELECT claimed.id, claimed.caption, claimed.fence, started.id AS attempt_id FROM claimed, started`;

const RECORD = `WITH kept AS (
    UPDATE bullmq.posts
    SET status = $3, remote_id = $4, published_at = CASE WHEN $3 = 'published' THEN now() END, lease_until = NULL
    WHERE id = $1 AND fence = $2
    RETURNING id
  ), finished AS (
    UPDATE bullmq.attempts SET finished_at = now(), outcome = $6, status_code = $7
    FROM kept WHERE attempts.id = $5
  )
  INSERT INTO bullmq.events (post_id, kind, payload) SELECT id, $8, $9 FROM kept`;

export async function tuned(pool, postId) {
  const claimed = await pool.query({ name: "claim", text: CLAIM, values: [postId] });
  if (claimed.rowCount === 0) return; // published already, or in another worker's hands
  const post = claimed.rows[0];
  const reply = await publish(post);
  const [status, outcome, kind] = reply.ok
    ? ["published", "published", "post.published"]
    : ["scheduled", "failed", "post.attempt_failed"];
  const payload = { remote_id: reply.remoteId, status: reply.status };
  const values = [post.id, post.fence, status, reply.remoteId, post.attempt_id, outcome, reply.status, kind, payload];
  const kept = await pool.query({ name: "record", text: RECORD, values });
  if (kept.rowCount !== 1) throw new Error(`post ${post.id} was claimed by another worker`);
  if (!reply.ok) throw new Error(`the platform answered ${reply.status}`);
}
