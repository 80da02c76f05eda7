import { type Narrowing, areWithin } from "../../access/engine/decisions/narrowing.ts";
import type { OrgSnapshot } from "../../access/engine/org-snapshot.ts";
import { orgPathIn } from "../../access/snapshots/snapshot-paths.ts";
import { parseTargetPath } from "../../access/evaluation/target-path.ts";
import { type ServiceError, invalidField } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import { everything, findScopeProblem } from "../../identity/tokens/scopes.ts";
import type { TokenDependencies } from "./dependencies.ts";

export interface NarrowingRequest {
  /** Empty for those of the credential of the call. */
  readonly scopes: readonly string[];
  /** Empty for that of the credential of the call. */
  readonly projectPath: string;
}

/** Returns how a new token is narrowed: as the request says, within the credential of the call. @throws ServiceError FIELD_INVALID */
export type ReadNarrowing = (caller: Caller, request: NarrowingRequest) => Promise<Narrowing>;

const permission = "iam.projects.get";

export function createReadNarrowing({ viewCaller, evaluator }: TokenDependencies): ReadNarrowing {
  const readProject = async (caller: Caller, projectPath: string): Promise<string | undefined> => {
    const current = caller.projectId;
    if (projectPath === "") return current;
    const path = parseTargetPath(projectPath, "project_path");
    const { snapshot, check } = await viewCaller(caller);
    const target = await evaluator.resolveAllowed(snapshot, { ...check, narrowing: undefined }, permission, path);
    const resolved = target && (await evaluator.resolve(snapshot, path));
    const isOwn = resolved?.resource.kind === "project" && resolved.resource.orgId === caller.orgId;
    const projectId =
      isOwn && resolved.isItself && resolved.resource.kind === "project" ? resolved.resource.projectId : undefined;
    if (projectId === undefined) throw notAProject(snapshot);
    if (current !== undefined && current !== projectId)
      throw beyond("project_path", "the project of the token of the call");
    return projectId;
  };

  return async (caller, { scopes, projectPath }) => {
    const problem = findScopeProblem(scopes);
    if (problem !== undefined) throw invalidField("scopes", problem, "scope");
    const current = caller.scopes;
    const wanted = scopes.length === 0 ? current : scopes.includes(everything) ? undefined : scopes;
    if (!areWithin(wanted, current)) throw beyond("scopes", "the scopes of the API key or token of the call");
    return { scopes: wanted, projectId: await readProject(caller, projectPath) };
  };
}

function beyond(field: string, limit: string): ServiceError {
  return invalidField(field, `must be within ${limit}: a token can only be narrowed`, "scope");
}

function notAProject(snapshot: OrgSnapshot): ServiceError {
  const description = `must be a project of the caller's org, ${orgPathIn(snapshot)}, on which it holds ${permission}`;
  return invalidField("project_path", description, "path");
}
