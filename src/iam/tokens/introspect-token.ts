import { subjectPathIn } from "../../access/snapshots/snapshot-paths.ts";
import type { TokenEndReason } from "../../access/tokens/find-token-end.ts";
import type { Caller } from "../../identity/caller.ts";
import type { AccessToken } from "../../identity/tokens/access-token.ts";
import { patterns } from "../../paths/patterns.ts";
import type { TokenDependencies } from "./dependencies.ts";

/** What a caller learns about a token. */
export interface Introspection {
  readonly token: AccessToken;
  /** What has ended it; undefined if it is active. */
  readonly end: TokenEndReason | "ORG_SUSPENDED" | undefined;
  /** The path of its member; empty if the org no longer exists. */
  readonly memberPath: string;
}

/** Returns undefined for a text that is no token of this service, and for a token that the caller may not know about. */
export type IntrospectToken = (caller: Caller, text: string) => Promise<Introspection | undefined>;

const permission = "iam.members.introspectTokens";

export function createIntrospectToken(dependencies: TokenDependencies): IntrospectToken {
  const { readTokenState, viewCaller, evaluator } = dependencies;

  const mayKnow = async (caller: Caller, { memberId, orgId }: AccessToken): Promise<boolean> => {
    if (caller.memberId === memberId) return true;
    const path = {
      pattern: patterns.Member,
      references: [
        { by: "id", value: orgId },
        { by: "id", value: memberId },
      ],
    } as const;
    const { snapshot, check } = await viewCaller(caller);
    return (await evaluator.resolveAllowed(snapshot, check, permission, path)) !== undefined;
  };

  return async (caller, text) => {
    const state = await readTokenState(text);
    if (state === undefined || !(await mayKnow(caller, state.token))) return undefined;
    const { token, end, snapshot } = state;
    const isSuspended = snapshot?.org.state === "SUSPENDED";
    return {
      token,
      end: end ?? (isSuspended ? "ORG_SUSPENDED" : undefined),
      memberPath: snapshot === undefined ? "" : subjectPathIn(snapshot, { kind: "member", id: token.memberId }),
    };
  };
}
