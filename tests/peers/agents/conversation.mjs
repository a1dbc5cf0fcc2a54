// Lines of JSON to the test that started this, and its answers.
import readline from "node:readline";

const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

export function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

// Sends a person to an address; the address to which the person comes back.
export async function sendPerson(address) {
  say({ authorize: String(address) });
  const { value, done } = await lines.next();
  if (done) throw new Error("nobody came back");
  return new URL(value);
}

export function must(holds, what) {
  if (!holds) throw new Error(what);
}
