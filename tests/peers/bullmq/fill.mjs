// Adds COUNT jobs, and unless MODE=empty the COUNT posts they are about, in fresh tables.
import { readFileSync } from "node:fs";
import { Queue } from "bullmq";
import { QUEUE, count, mode, postgres, redis, say, stopwatch } from "./settings.mjs";

const CHUNK = 1000;
const OPTIONS = {
  attempts: 5,
  backoff: { type: "exponential", delay: 1000 },
  removeOnComplete: true,
};

async function insertPosts() {
  const pool = postgres();
  await pool.query(readFileSync(new URL("schema.sql", import.meta.url), "utf8"));
  const { rows } = await pool.query(
    `INSERT INTO bullmq.posts (account_id, caption)
     SELECT n % 50, 'Post number ' || n FROM generate_series(1, $1::int) AS n RETURNING id`,
    [count],
  );
  await pool.query("ANALYZE bullmq.posts");
  await pool.end();
  return rows.map((row) => row.id);
}

const connection = redis();
const queue = new Queue(QUEUE, { connection });
await queue.waitUntilReady();
const posts = mode === "empty" ? Array.from({ length: count }, (_, n) => String(n + 1)) : await insertPosts();
say({ ready: true });

const read = stopwatch();
for (let start = 0; start < posts.length; start += CHUNK) {
  const chunk = posts.slice(start, start + CHUNK);
  await queue.addBulk(chunk.map((postId) => ({ name: "publish", data: { postId }, opts: OPTIONS })));
}
say({ jobs: posts.length, ...read() });
await queue.close();
await connection.quit();
