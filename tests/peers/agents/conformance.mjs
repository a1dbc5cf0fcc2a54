// A conformance suite of MCP against a service: node conformance.mjs current|next URL KEY
// The suites send no key: a door of ours on loopback adds it, and changes nothing else. Prints the
// scenarios that hold and each check that failed.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { say } from "./conversation.mjs";

const [suite, url, key] = process.argv.slice(2);
const packages = { current: "@modelcontextprotocol/conformance", next: "conformance-next" };
const cli = path.join(import.meta.dirname, "node_modules", packages[suite], "dist/index.js");
const service = new URL(url);

function pass(request, response) {
  const headers = { ...request.headers, authorization: `Bearer ${key}` };
  // The door's own name becomes the service's; a foreign one stays what it is.
  if (headers.host === `localhost:${door.address().port}`) headers.host = service.host;
  const options = { host: service.hostname, port: service.port, path: service.pathname, method: request.method, headers };
  const on = http.request(options, (reply) => {
    response.writeHead(reply.statusCode, reply.headers);
    reply.pipe(response);
  });
  on.on("error", () => response.destroy());
  request.pipe(on);
}

const door = http.createServer(pass);
await new Promise((listening) => door.listen(0, "127.0.0.1", listening));
const results = fs.mkdtempSync(path.join(os.tmpdir(), "fanfare-conformance-"));
process.once("exit", () => fs.rmSync(results, { recursive: true, force: true }));

const address = `http://localhost:${door.address().port}/mcp`;
const run = spawn(process.execPath, [cli, "server", "--url", address, "--suite", "all", "-o", results], {
  stdio: ["ignore", "pipe", "pipe"],
});
let log = "";
for (const stream of [run.stdout, run.stderr]) stream.on("data", (data) => (log += data));
await new Promise((ended) => run.once("close", ended));

// A folder a scenario, named after it and the time.
function scenario(folder) {
  return folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
}

const [passed, failed] = [[], {}];
for (const folder of fs.readdirSync(results)) {
  const file = path.join(results, folder, "checks.json");
  if (!fs.existsSync(file)) continue;
  const checks = JSON.parse(fs.readFileSync(file, "utf8"));
  const bad = checks.filter((check) => check.status === "FAILURE");
  if (bad.length === 0) passed.push(scenario(folder));
  for (const check of bad) failed[`${scenario(folder)}: ${check.id}`] = check.errorMessage ?? check.description;
}
say({ passed: passed.sort(), failed, log: passed.length ? undefined : log });
process.exit(0);
