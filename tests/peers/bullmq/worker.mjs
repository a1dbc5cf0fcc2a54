// Drains COUNT jobs with CONCURRENCY at a time; MODE is empty, call, full or tuned. SIGTERM ends it early.
import { Worker } from "bullmq";
import { QUEUE, concurrency, count, mode, postgres, redis, say, stopwatch } from "./settings.mjs";

async function processor() {
  switch (mode) {
    case "empty":
      return async () => {};
    case "call": {
      const { publish } = await import("./platform.mjs");
      return async (job) => {
        const reply = await publish({ id: job.data.postId, caption: `Post number ${job.data.postId}` });
        if (!reply.ok) throw new Error(`the platform answered ${reply.status}`);
      };
    }
    case "full": {
      const { full } = await import("./full.mjs");
      return (job) => full(pool, job.data.postId);
    }
    case "tuned": {
      const { tuned } = await import("./tuned.mjs");
      return (job) => tuned(pool, job.data.postId);
    }
    default:
      throw new Error(`MODE is empty, call, full or tuned, not ${mode}`);
  }
}

const work = await processor();
const pool = mode === "full" || mode === "tuned" ? postgres() : undefined;
const connection = redis();
const worker = new Worker(QUEUE, work, { connection, concurrency, autorun: false });
await worker.waitUntilReady();
// The first connection is opened before the clock starts, so that a wrong PG_URL shows at once.
await pool?.query("SELECT 1");

let done = 0;
let failed = 0;
const finished = new Promise((resolve) => {
  worker.on("completed", () => {
    done += 1;
    if (done + failed === count) resolve();
  });
  worker.on("failed", (job, error) => {
    if (failed === 0) console.error(error);
    if (job && job.attemptsMade >= job.opts.attempts) failed += 1;
    if (done + failed === count) resolve();
  });
  worker.on("error", (error) => console.error(error));
  process.once("SIGTERM", () => worker.close().then(resolve)); // lets the jobs in hand finish
});

say({ ready: true });
const read = stopwatch();
const running = worker.run();
await finished;
say({ jobs: done, ...read(), ...(failed > 0 && { failed }) });
await worker.close();
await running;
await pool?.end();
await connection.quit();
process.exit(failed > 0 ? 1 : 0);
