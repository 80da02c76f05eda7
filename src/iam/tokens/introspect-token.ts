import { memberPathIn } from "../../access/snapshots/snapshot-paths.ts";
import type { TokenEndReason } from "../../access/tokens/find-token-end.ts";
import type { Caller } from "../../identity/caller.ts";
import type { AccessToken } from "../../identity/tokens/access-token.ts";
import { pathOfMember } from "../../access/tokens/impersonation.ts";
import type { TokenDependencies } from "./dependencies.ts";

export interface Introspection {
  readonly token: AccessToken;
  /** What has ended it; undefined if it is active. */
  readonly end: TokenEndReason | "ORG_SUSPENDED" | undefined;
  /** The path of its member; empty if the org no longer exists. */
  readonly memberPath: string;
  /** The path of the member that impersonates it; empty for none. */
  readonly impersonatorPath: string;
}

/** Returns undefined for a text that is no token of this service, and for a token that the caller may not know about. */
export type IntrospectToken = (caller: Caller, text: string) => Promise<Introspection | undefined>;

const permission = "iam.members.introspectTokens";

export function createIntrospectToken(dependencies: TokenDependencies): IntrospectToken {
  const { readTokenState, viewCaller, evaluator } = dependencies;

  const mayKnow = async (caller: Caller, { memberId, orgId, impersonator }: AccessToken): Promise<boolean> => {
    if (caller.memberId === memberId || caller.memberId === impersonator?.memberId) return true;
    const { snapshot, check } = await viewCaller(caller);
    return (
      (await evaluator.resolveAllowed(snapshot, check, permission, pathOfMember({ orgId, memberId }))) !== undefined
    );
  };

  return async (caller, text) => {
    const state = await readTokenState(text);
    if (state === undefined || !(await mayKnow(caller, state.token))) return undefined;
    const { token, end, snapshot } = state;
    const isSuspended = snapshot?.org.state === "SUSPENDED";
    const pathOf = (id: string | undefined): string =>
      snapshot === undefined || id === undefined ? "" : memberPathIn(snapshot, id);
    return {
      token,
      end: end ?? (isSuspended ? "ORG_SUSPENDED" : undefined),
      memberPath: pathOf(token.memberId),
      impersonatorPath: pathOf(token.impersonator?.memberId),
    };
  };
}
