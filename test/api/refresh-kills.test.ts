// A server is killed while it and another one refresh a session 16 times at once. Exactly one family goes on.
import { expect, test } from "vitest";
import type { Served } from "../support/command.ts";
import { rounds } from "../support/rounds.ts";
import { type OAuthAnswer, sendForm, statusWith } from "../support/token-servers.ts";
import { startKillPlace } from "./token-kills.ts";

const refreshTokenIn = ({ body }: OAuthAnswer): string => String(body["refresh_token"]);

test("exactly one family goes on after a kill", async () => {
  const { survivor, operatorKey, callDuringKill } = await startKillPlace();
  const form = { grant_type: "client_credentials", client_secret: operatorKey, scope: "offline_access" };
  let current = refreshTokenIn(await sendForm(survivor, "token", form));
  for (let round = 0; round < rounds(1, 200); round++) {
    const refresh = (server: Served) =>
      sendForm(server, "token", { grant_type: "refresh_token", refresh_token: current });
    const answers = await callDuringKill(round, refresh);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    // Those whose response was lost and the others have the same successor.
    const successors = new Set([...answers, await refresh(survivor)].map(refreshTokenIn));
    expect(successors.size).toBe(1);
    [current = ""] = successors;
    const next = await refresh(survivor);
    expect(await statusWith(survivor, String(next.body["access_token"]), "/orgs/system")).toBe(200);
    current = refreshTokenIn(next);
  }
});
