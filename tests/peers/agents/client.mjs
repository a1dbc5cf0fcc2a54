// The official client of MCP, from nothing to tools: node client.mjs v1|v2 URL
// It finds the way in by itself, sends a person there, and works with the token; see ../README.md.
import { randomBytes } from "node:crypto";
import { must, say, sendPerson } from "./conversation.mjs";

const [version, url] = process.argv.slice(2);
const sdk = await load();

async function load() {
  if (version === "v2") return import("@modelcontextprotocol/client");
  const [{ Client }, { StreamableHTTPClientTransport }, { UnauthorizedError }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/client/auth.js"),
  ]);
  return { Client, StreamableHTTPClientTransport, UnauthorizedError };
}

// What the SDK wants kept between its steps.
class Kept {
  redirectUrl = "http://127.0.0.1:8123/callback";
  clientMetadata = {
    client_name: `official SDK ${version}`,
    redirect_uris: [this.redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  #state = randomBytes(16).toString("hex");

  state() {
    return this.#state;
  }
  clientInformation() {
    return this.client;
  }
  saveClientInformation(client) {
    this.client = client;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens) {
    this.kept = tokens;
  }
  saveCodeVerifier(verifier) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
  redirectToAuthorization(address) {
    this.address = address;
  }
}

async function connect(provider) {
  const client = new sdk.Client({ name: "peer", version: "1.0.0" });
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  try {
    await client.connect(transport);
    return { client };
  } catch (error) {
    if (!(error instanceof sdk.UnauthorizedError)) throw error;
    return { transport };
  }
}

async function letIn(provider) {
  const { transport } = await connect(provider);
  must(transport && provider.address, "the first attempt must end at the person");
  const back = await sendPerson(provider.address);
  must(back.searchParams.get("state") === provider.state(), "the state came back");
  if (version === "v2") await transport.finishAuth(back.searchParams);
  else await transport.finishAuth(back.searchParams.get("code"));
}

async function works(client) {
  const { tools } = await client.listTools();
  must(tools.some((tool) => tool.name === "whoami"), "whoami is listed");
  const who = await client.callTool({ name: "whoami", arguments: {} });
  const email = who.structuredContent?.user?.email;
  const refused = await client.callTool({ name: "get_post", arguments: { id: 999999999 } });
  must(refused.isError === true, "a refusal is an error of the tool");
  const { resources } = await client.listResources();
  const read = await client.readResource({ uri: resources[0].uri });
  must(read.contents[0].text.length > 100, "a document is read");
  const { prompts } = await client.listPrompts();
  must(prompts.length > 0, "there are prompts");
  await client.ping?.();
  return { email, tools: tools.length };
}

const provider = new Kept();
await letIn(provider);
const { client } = await connect(provider);
must(client, "the second attempt must get in");
const first = await works(client);
await client.close();

// A token that nobody takes any more is renewed on the way.
const spent = provider.kept.access_token;
provider.kept = { ...provider.kept, access_token: `${spent.slice(0, -4)}AAAA` };
const { client: again } = await connect(provider);
must(again && provider.kept.access_token !== spent, "the SDK refreshes");
const { email } = await works(again);
await again.close();
say({ ...first, again: email });
process.exit(0);
