// A platform to publish to by hand: answers every POST after DELAY_MS with a new id, and counts repeated keys.
import http from "node:http";

const delay = Number(process.env.DELAY_MS ?? 0);
const keys = new Set();
let requests = 0;
const server = http.createServer((request, response) => {
  request.resume().once("end", () => {
    requests += 1;
    keys.add(request.headers["idempotency-key"] ?? requests);
    const answer = () => response.setHeader("content-type", "application/json").end(`{"id":"${requests}"}`);
    if (delay > 0) setTimeout(answer, delay);
    else answer();
  });
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ ready: true, url: `http://127.0.0.1:${server.address().port}/` }));
});
process.once("SIGTERM", () => {
  console.log(JSON.stringify({ requests, repeated: requests - keys.size }));
  process.exit(0);
});
