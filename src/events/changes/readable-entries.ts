// Who may see what of an entry. The log says to its readers that something was changed, by whom and why. What the resource was is shown to
// who may get the resource now, and where a call of somebody from another org came from, to who may get that member.
import type { Holds } from "../../access/evaluation/author-holds.ts";
import type { AnyPath } from "../../paths/parse-path.ts";
import { isSingletonType, patterns } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import { permissionToGet } from "../../standard-methods/definition/method-permissions.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { type LoggedResource, columnsOf, parentOfSingleton, placeOf, toReference } from "./logged-place.ts";
import type { Shown } from "./message.ts";
import type { ChangeRow } from "./store.ts";

/** A permission, and on what it is needed; all of several are. */
interface Need {
  readonly permission: string;
  readonly path: AnyPath;
}

/** What a request asks for of each entry. */
export type View = Pick<Shown, "states" | "proof">;

export interface Readable {
  /** Returns what is shown of an entry to the caller. */
  readonly shown: (row: ChangeRow, view: View) => Promise<Shown>;
  /** Whether the caller may get a resource. */
  readonly resource: (resource: LoggedResource) => Promise<boolean>;
  /** Whether the caller may see from where its actor called. */
  readonly origin: (row: Pick<ChangeRow, "org_id" | "actor_org_id" | "actor_id">) => Promise<boolean>;
}

/** Decides for the entries of a page, once for each resource and member. */
export function createReadable({ findDefinition }: Pick<ResourceRegistry, "findDefinition">, holds: Holds): Readable {
  const decided = new Map<string, Promise<boolean>>();
  const holdsOnce = ({ permission, path }: Need): Promise<boolean> => {
    const ids = path.references.map((reference) => (reference.by === "any" ? "-" : reference.value));
    const key = [permission, ...path.pattern, ...ids].join(" ");
    const found = decided.get(key) ?? holds(permission, path);
    decided.set(key, found);
    return found;
  };
  const holdsAll = async (needs: readonly Need[] | undefined): Promise<boolean> => {
    if (needs === undefined) return false;
    for (const need of needs) if (!(await holdsOnce(need))) return false;
    return true;
  };
  const origin: Readable["origin"] = ({ org_id: orgId, actor_org_id: actorOrgId, actor_id: actorId }) => {
    if (!actorId || !actorOrgId || actorOrgId === orgId) return Promise.resolve(true);
    return holdsOnce({ permission: "iam.members.get", path: memberAt(actorOrgId, actorId) });
  };
  const resource: Readable["resource"] = (entry) => holdsAll(needsOf(findDefinition(entry.resource_type), entry));
  return {
    origin,
    resource,
    async shown(row, { states, proof }) {
      const asksForResource = states || proof;
      return { resource: asksForResource && (await resource(row)), origin: await origin(row), states, proof };
    },
  };
}

/** Returns what it takes to get the resource of an entry; undefined if that is not known. */
function needsOf(definition: ResourceDefinition | undefined, entry: LoggedResource): readonly Need[] | undefined {
  const { resource_type: type, org_id: orgId } = entry;
  const columns = columnsOf(entry);
  if (type === "Token") {
    const memberId = columns["member_id"];
    return typeof memberId === "string"
      ? [{ permission: "iam.sessions.get", path: memberAt(orgId, memberId) }]
      : undefined;
  }
  if (type === "ChangeLog" || type === "SupportAccess") return [];
  if (isSingletonType(type)) return [{ permission: "iam.quotas.get", path: parentOfSingleton(type, entry) }];
  const path = definition && placeOf(definition, entry);
  if (definition === undefined || path === undefined) return undefined;
  if (type === "Resource") return [{ permission: getResources, path }];
  const permission = permissionToGet(definition);
  // Every caller may read the catalog.
  const needs = permission === "" ? [] : [{ permission, path }];
  const resourceId = columns["resource_id"];
  if (type !== "Operation" || typeof resourceId !== "string") return needs;
  const references = [...path.references.slice(0, -1), toReference(resourceId)];
  return [...needs, { permission: getResources, path: { pattern: patterns.Resource, references } }];
}

/** On resources of any type: entries do not tell the service of a resource. */
const getResources = "resources.resources.get";

function memberAt(orgId: string, memberId: string): AnyPath {
  return { pattern: patterns.Member, references: [orgId, memberId].map(toReference) };
}
