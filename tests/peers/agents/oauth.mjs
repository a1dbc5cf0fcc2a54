// oauth4webapi, which checks what it reads by the letter of the RFCs: node oauth.mjs URL
import * as oauth from "oauth4webapi";
import { must, say, sendPerson } from "./conversation.mjs";

const [url] = process.argv.slice(2);
const insecure = { [oauth.allowInsecureRequests]: true };
const redirect = "http://127.0.0.1:8124/callback";

async function discovered() {
  const resource = new URL(url);
  const described = await oauth.resourceDiscoveryRequest(resource, insecure);
  const document = await oauth.processResourceDiscoveryResponse(resource, described);
  const issuer = new URL(document.authorization_servers[0]);
  const found = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
  return oauth.processDiscoveryResponse(issuer, found);
}

async function registered(server) {
  const asked = {
    client_name: "oauth4webapi",
    redirect_uris: [redirect],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  const reply = await oauth.dynamicClientRegistrationRequest(server, asked, insecure);
  return oauth.processDynamicClientRegistrationResponse(reply);
}

async function code(server, client, verifier) {
  const state = oauth.generateRandomState();
  const address = new URL(server.authorization_endpoint);
  for (const [name, value] of Object.entries({
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirect,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    resource: url,
  })) {
    address.searchParams.set(name, value);
  }
  const back = await sendPerson(address);
  // State, issuer (RFC 9207) and doubled parameters.
  return oauth.validateAuthResponse(server, client, back, state);
}

async function whoami(token) {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whoami", arguments: {} } };
  const headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
  const sent = await oauth.protectedResourceRequest(
    token, "POST", new URL(url), headers, JSON.stringify(message), insecure,
  );
  return sent.json();
}

async function refused(token) {
  try {
    const reply = await whoami(token);
    return { body: reply };
  } catch (error) {
    // The library reads WWW-Authenticate.
    return { status: error.response?.status, challenge: error.cause?.[0]?.parameters };
  }
}

const server = await discovered();
const client = await registered(server);
const none = oauth.None();
const verifier = oauth.generateRandomCodeVerifier();
const answer = await code(server, client, verifier);
const granted = await oauth.authorizationCodeGrantRequest(
  server, client, none, answer, redirect, verifier, insecure,
);
const tokens = await oauth.processAuthorizationCodeResponse(server, client, granted);
const who = await whoami(tokens.access_token);
const renewed = await oauth.refreshTokenGrantRequest(server, client, none, tokens.refresh_token, insecure);
const next = await oauth.processRefreshTokenResponse(server, client, renewed);
must(next.refresh_token !== tokens.refresh_token, "each refresh brings a new refresh token");
const twice = await oauth.authorizationCodeGrantRequest(
  server, client, none, answer, redirect, verifier, insecure,
);
const second = await oauth.processAuthorizationCodeResponse(server, client, twice).then(
  () => "granted",
  (error) => error.error,
);
const ended = await refused(next.access_token);
const revoked = await oauth.revocationRequest(server, client, none, next.refresh_token, insecure);
await oauth.processRevocationResponse(revoked);
say({ email: who.result.structuredContent.user.email, second, ended });
process.exit(0);
