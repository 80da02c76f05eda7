// Access tokens while the database is away: they verify by themselves, and the snapshot of their org knows what had ended.
import type { AuthenticateToken } from "../../identity/authenticate.ts";
import type { AccessTokens } from "../../identity/tokens/access-token.ts";
import type { AccessEvaluator } from "../evaluation/evaluator.ts";
import type { Snapshots } from "../snapshots/current-snapshots.ts";
import { type ReadHead, createAuthenticateToken, createReadTokenState } from "../tokens/authenticate-token.ts";
import { type HeldOrgs, unavailable } from "./held-orgs.ts";

/** Creates the function that authenticates tokens from memory. Nobody acts as another member meanwhile. */
export function createAuthenticateAway(
  tokens: AccessTokens,
  { head }: Pick<HeldOrgs, "head">,
  snapshots: Snapshots,
  evaluator: AccessEvaluator,
): AuthenticateToken {
  const readHead: ReadHead = ([org]) => Promise.resolve(head(org));
  const authenticate = createAuthenticateToken(createReadTokenState(tokens, readHead, snapshots, evaluator));
  return async (text) => {
    const token = await tokens.verify(text);
    if (token === undefined) return undefined;
    if (token.impersonator !== undefined) throw unavailable("the token is of a member that acts as another one");
    const caller = await authenticate(text);
    if (caller === undefined) return undefined;
    const orgIds = [token.orgId, ...(token.clientOrgId === undefined ? [] : [token.clientOrgId])];
    return { ...caller, staleSince: Math.min(...orgIds.map((value) => head({ by: "id", value }).knownTime)) };
  };
}
