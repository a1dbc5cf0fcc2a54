// Adds COUNT jobs, and unless MODE is empty or call the COUNT posts they are about, in fresh tables. They are due now, or evenly
// from DUE_FROM to DUE_TO (ms since 1970).
import { readFileSync } from "node:fs";
import { Queue } from "bullmq";
import { QUEUE, count, mode, postgres, redis, say, stopwatch } from "./settings.mjs";

const CHUNK = 1000;
const from = Number(process.env.DUE_FROM ?? Date.now());
const to = Number(process.env.DUE_TO ?? from);
const due = (place) => Math.round(from + (place * (to - from)) / count);
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
     SELECT n % 50, 'Post number ' || n || ' due=' || ($2::bigint + (n - 1) * ($3::bigint - $2::bigint) / $1)
     FROM generate_series(1, $1::bigint) AS n RETURNING id`,
    [count, from, to],
  );
  await pool.query("ANALYZE bullmq.posts");
  await pool.end();
  return rows.map((row) => row.id);
}

const connection = redis();
const queue = new Queue(QUEUE, { connection });
await queue.waitUntilReady();
const bare = mode === "empty" || mode === "call";
const posts = bare ? Array.from({ length: count }, (_, n) => String(n + 1)) : await insertPosts();
say({ ready: true });

const read = stopwatch();
for (let start = 0; start < posts.length; start += CHUNK) {
  const chunk = posts.slice(start, start + CHUNK);
  const jobs = chunk.map((postId, place) => {
    const delay = Math.max(0, due(start + place) - Date.now());
    return { name: "publish", data: { postId }, opts: { ...OPTIONS, delay } };
  });
  await queue.addBulk(jobs);
}
say({ jobs: posts.length, ...read() });
await queue.close();
await connection.quit();
