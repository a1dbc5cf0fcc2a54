// What the environment says, and the lines the benchmarks read.
import { Redis } from "ioredis";
import pg from "pg";

function whole(name, fallback) {
  const value = Number(process.env[name] ?? fallback);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number above 0`);
  return value;
}

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

export const QUEUE = "publish";
export const count = whole("COUNT", 1000);
export const concurrency = whole("CONCURRENCY", 64);
export const mode = process.env.MODE ?? "full";
export const targetUrl = () => required("TARGET_URL");

/** A Redis connection as BullMQ wants it for its blocking calls. */
export function redis() {
  return new Redis(required("REDIS_URL"), { maxRetriesPerRequest: null });
}

/** A pool of PG_POOL connections: ten, as `pg` has it, measured faster than 20 or 50 on two cores. */
export function postgres() {
  return new pg.Pool({ connectionString: required("PG_URL"), max: whole("PG_POOL", 10) });
}

export function say(line) {
  console.log(JSON.stringify(line));
}

/** Starts the clock; the answer reads it: wall seconds, and this process's user and system milliseconds. */
export function stopwatch() {
  const cpu = process.cpuUsage();
  const started = process.hrtime.bigint();
  return () => {
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    const used = process.cpuUsage(cpu);
    return { seconds, cpu_ms: (used.user + used.system) / 1000 };
  };
}
