// Starts a did:plc directory and a Bluesky PDS on loopback; see ../README.md for the interface.
import { freePort } from "./loopback.mjs";
import { createAccount } from "./accounts.mjs";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { PDS, envToCfg, envToSecrets } from "@atproto/pds";
import plc from "@did-plc/server";

const { values: options } = parseArgs({ options: { accounts: { type: "string", default: "1" } } });
const wanted = Number(options.accounts);
if (!Number.isInteger(wanted) || wanted < 0) {
  console.error("--accounts takes a whole number");
  process.exit(2);
}

const data = fs.mkdtempSync(path.join(os.tmpdir(), "fanfare-pds-"));
process.once("exit", () => fs.rmSync(data, { recursive: true, force: true }));

function settings(port, plcUrl) {
  const secret = () => randomBytes(32).toString("hex");
  return {
    port,
    hostname: "localhost",
    devMode: true,
    dataDirectory: data,
    blobstoreDiskLocation: path.join(data, "blobs"),
    blobstoreDiskTmpLocation: path.join(data, "uploads"),
    blobUploadLimit: 100_000_000, // bytes: the default of 5 MB takes no video
    didPlcUrl: plcUrl,
    serviceHandleDomains: [".test"],
    enableDidDocWithSession: true,
    inviteRequired: false,
    rateLimitsEnabled: false,
    crawlers: [],
    jwtSecret: secret(),
    dpopSecret: secret(),
    adminPassword: secret(),
    plcRotationKeyK256PrivateKeyHex: secret(),
  };
}

async function startPlc() {
  const port = await freePort();
  const server = plc.PlcServer.create({ db: plc.Database.mock(), port });
  await server.start();
  return { url: `http://localhost:${port}`, server };
}

async function startPds(plcUrl) {
  const env = settings(await freePort(), plcUrl);
  const config = envToCfg(env);
  const server = await PDS.create(config, envToSecrets(env));
  await server.start();
  return { url: config.service.publicUrl, server };
}

const running = [];
let stopping = false;
async function stop(code) {
  if (stopping) return;
  stopping = true;
  // A reader that never hangs up must not keep the peer alive.
  setTimeout(() => process.exit(code), 5_000).unref();
  await Promise.allSettled(running.map((server) => server.destroy()));
  process.exit(code);
}

for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop(0));
const stdin = fs.fstatSync(0);
if (stdin.isFIFO() || stdin.isSocket()) process.stdin.resume().once("end", () => stop(0));

try {
  const directory = await startPlc();
  running.push(directory.server);
  const pds = await startPds(directory.url);
  running.unshift(pds.server);
  const accounts = [];
  for (let number = 1; number <= wanted; number += 1) accounts.push(await createAccount(pds.url, number));
  console.log(JSON.stringify({ pds: pds.url, plc: directory.url, accounts }));
} catch (error) {
  console.error(error);
  await stop(1);
}
