// Holds this process to loopback: what it serves is not reachable from outside, and what it asks for
// elsewhere fails at once, so a test can never depend on the Internet by accident.
import dns from "node:dns";
import net from "node:net";

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

function refusal(target) {
  return Object.assign(new Error(`this peer stays on loopback, not ${target}`), { code: "ECONNREFUSED" });
}

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  // net.connect hands its arguments over as one normalised array.
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  const host = typeof options === "object" ? (options.host ?? "localhost") : (args[1] ?? "localhost");
  if (options?.path || LOOPBACK.has(host)) return connect.apply(this, args);
  process.nextTick(() => this.destroy(refusal(host)));
  return this;
};

// Both servers call listen(port), which would open the port on every interface.
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  if (typeof port !== "number") return listen.call(this, port, ...rest);
  const callback = rest.find((argument) => typeof argument === "function");
  return listen.call(this, { port, host: "127.0.0.1" }, callback);
};

for (const api of [dns.promises, dns.promises.Resolver.prototype]) {
  for (const name of Object.getOwnPropertyNames(api).filter((name) => name.startsWith("resolve"))) {
    api[name] = async (host) => {
      throw refusal(host);
    };
  }
}

/** A port that was free a moment ago. */
export async function freePort() {
  const probe = net.createServer();
  await new Promise((resolve, reject) => probe.once("error", reject).listen(0, resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
