// Who may see what of an entry. The log says to its readers that something was changed, by whom and why. What the resource was is shown to
// who may get the resource now, and where a call of somebody from another org came from, to who may get that member.
import type { Holds } from "../../access/evaluation/author-holds.ts";
import type { AnyPath, Reference } from "../../paths/parse-path.ts";
import { isSamePattern, isSingletonType, patterns, singletonPath } from "../../paths/patterns.ts";
import type { PathPattern } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import { permissionToGet } from "../../standard-methods/definition/method-permissions.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
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
  /** Whether the caller may see from where its actor called. */
  readonly origin: (row: Pick<ChangeRow, "org_id" | "actor_org_id" | "actor_id">) => Promise<boolean>;
}

/** Decides for the entries of a page, once for each resource and member. */
export function createReadable({ definitions }: Pick<ResourceRegistry, "definitions">, holds: Holds): Readable {
  const byType = new Map<string, ResourceDefinition>(definitions.map((definition) => [definition.type, definition]));
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
  return {
    origin,
    async shown(row, { states, proof }) {
      const asksForResource = states || proof;
      const resource = asksForResource && (await holdsAll(needsOf(byType.get(row.resource_type), row)));
      return { resource, origin: await origin(row), states, proof };
    },
  };
}

type Columns = Readonly<Record<string, unknown>>;

/** Returns what it takes to get the resource of an entry; undefined if that is not known. */
function needsOf(definition: ResourceDefinition | undefined, row: ChangeRow): readonly Need[] | undefined {
  const { resource_type: type, resource_id: id, resource_path: text, org_id: orgId } = row;
  const columns = (row.after ?? row.before ?? {}) as Columns;
  if (type === "Token") {
    const memberId = columns["member_id"];
    return typeof memberId === "string"
      ? [{ permission: "iam.sessions.get", path: memberAt(orgId, memberId) }]
      : undefined;
  }
  if (type === "ChangeLog") return [];
  if (isSingletonType(type)) {
    const parent = collectionsOf(text.slice(0, -singletonPath(type, "").length));
    const references = [...(parent.length > 1 ? [orgId] : []), id].map(toReference);
    return [{ permission: "iam.quotas.get", path: { pattern: parent, references } }];
  }
  const pattern = collectionsOf(text);
  const place = definition?.places.find((each) => isSamePattern(each.pattern, pattern));
  if (definition === undefined || place === undefined) return undefined;
  const ids = [...place.parents.map(({ column }) => columns[column]), id];
  if (!ids.every((each) => typeof each === "string")) return undefined;
  const path = { pattern, references: ids.map(toReference) };
  if (type === "Resource") return [{ permission: getResources, path }];
  const permission = permissionToGet(definition);
  // Every caller may read the catalog.
  const needs = permission === "" ? [] : [{ permission, path }];
  const resourceId = columns["resource_id"];
  if (type !== "Operation" || typeof resourceId !== "string") return needs;
  const resource = { pattern: patterns.Resource, references: [...ids.slice(0, -1), resourceId].map(toReference) };
  return [...needs, { permission: getResources, path: resource }];
}

/** On resources of any type: entries do not tell the service of a resource. */
const getResources = "resources.resources.get";

function memberAt(orgId: string, memberId: string): AnyPath {
  return { pattern: patterns.Member, references: [orgId, memberId].map(toReference) };
}

/** Returns the collections in a path. */
function collectionsOf(path: string): PathPattern {
  return path
    .split("/")
    .slice(1)
    .filter((_, index) => index % 2 === 0);
}

const toReference = (value: string): Reference => ({ by: "id", value });
