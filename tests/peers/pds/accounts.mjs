// Accounts as a person would make them: sign up, then ask for an app password.
import { randomBytes } from "node:crypto";

async function call(pds, method, body, token) {
  const response = await fetch(`${pds}/xrpc/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Signs up `user{number}.test` and makes one app password for it. */
export async function createAccount(pds, number) {
  const handle = `user${number}.test`;
  const password = randomBytes(12).toString("hex");
  const email = `user${number}@example.test`;
  const session = await call(pds, "com.atproto.server.createAccount", { handle, email, password });
  const app = await call(pds, "com.atproto.server.createAppPassword", { name: "fanfare" }, session.accessJwt);
  return { handle, did: session.did, password, app_password: app.password };
}
