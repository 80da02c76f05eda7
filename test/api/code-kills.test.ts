// A server is killed while it and another one exchange a code 16 times at once. At most one family goes on.
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createApi } from "../support/api.ts";
import type { Served } from "../support/command.ts";
import { rounds } from "../support/rounds.ts";
import { sendForm, statusWith } from "../support/token-servers.ts";
import { startKillPlace } from "./token-kills.ts";

const redirectUri = "https://app.example.com/callback";
const ofPage = { "sec-fetch-site": "same-origin" };

test("at most one family goes on after a kill", async () => {
  const { directory, survivor, operatorKey, callDuringKill } = await startKillPlace();
  await expect.poll(() => existsSync(join(directory, "sign-in-link"))).toBe(true);
  const link = (await readFile(join(directory, "sign-in-link"), "utf8")).trim();
  const { id } = await createApi("gRPC", survivor.url, operatorKey).clients.createClient({
    parentPath: "/orgs/system",
    client: { name: "app", redirectUris: [redirectUri] },
  });
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${survivor.url}${path}`, {
      method: "POST",
      body: new URLSearchParams(form),
      headers: { ...ofPage, ...headers },
      redirect: "manual",
    });
  const signedIn = await post("/sign-in/code", { code: link.slice(link.indexOf("#") + 1) });
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  let completed = 0;
  // In some rounds, the tokens are lost.
  for (let round = 0; round < rounds(2, 200) || completed === 0; round++) {
    const verifier = randomBytes(32).toString("base64url");
    const request = new URLSearchParams({
      response_type: "code",
      client_id: id,
      redirect_uri: redirectUri,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      scope: "offline_access",
    }).toString();
    const page = await (await fetch(`${survivor.url}/oauth2/authorize?${request}`, { headers: { cookie } })).text();
    const member = /name="member" value="([^"]*)"/.exec(page)?.[1] ?? "";
    const allowed = await post("/oauth2/authorize/decision", { request, member, decision: "allow" }, { cookie });
    const code = new URL(allowed.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const redeem = (server: Served) =>
      sendForm(server, "token", {
        grant_type: "authorization_code",
        client_id: id,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        code,
      });
    const answers = await callDuringKill(round, redeem);
    const [tokens, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body["error"])).toEqual(
      Array.from({ length: answers.length - (tokens === undefined ? 0 : 1) }, () => "invalid_grant"),
    );
    // The response with the tokens may be lost with the server that sent it.
    if (tokens === undefined) continue;
    completed++;
    const form = { grant_type: "refresh_token", refresh_token: String(tokens.body["refresh_token"]) };
    const next = await sendForm(survivor, "token", form);
    expect(await statusWith(survivor, String(next.body["access_token"]), "/orgs/system")).toBe(200);
    // A member has a hundred sessions, and the oldest is that of the browser.
    await post("/oauth2/revoke", { token: String(next.body["refresh_token"]), client_id: id });
  }
});
