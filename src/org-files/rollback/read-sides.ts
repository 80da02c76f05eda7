// Reads an org as it is and as it was, in one snapshot of the database: rows, and of each the resource that a file would have. What they
// have in common is known by ids, so all paths here are of ids: `groups/@<id>/members/@<id>`.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Transaction } from "kysely";
import { type Org, OrgSchema } from "../../../gen/iam/v1alpha/org_pb.ts";
import { readRemovals } from "../../access/snapshots/past-removals.ts";
import type { Moment } from "../../changes/past/find-moment.ts";
import { type PastOrg, readPastOrg, requireHead } from "../../changes/past/read-past-org.ts";
import { type PastBase, readPastRows } from "../../changes/past/read-past-rows.ts";
import type { Database } from "../../database/database.ts";
import type { Schema } from "../../database/schema.ts";
import type { ResourceType } from "../../paths/patterns.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import { type Steps, createStepCounter } from "../../scheduling/steps.ts";
import type { ResourceDefinition } from "../../standard-methods/definition/definition.ts";
import type { ResourceRegistry } from "../../standard-methods/definition/registry.ts";
import { toLoggedMessage } from "../../standard-methods/logged-message.ts";
import { type FileType, fileForms, fileTypes, pathBelowOrg, toWholeFileMessage } from "../file-resources.ts";
import type { StateResource } from "../state-resource.ts";
import { maxResources, tooManyResources } from "../resource-limit.ts";
import { type Columns, type RowsByType, withStandIns } from "./stand-ins.ts";

/** A resource, known by its path of ids. */
export interface SideResource extends StateResource {
  readonly type: FileType;
  readonly row: Columns;
  /** Empty for what has no name of its own. */
  readonly name: string;
}

/** What there is at a moment, also what is deleted and can be undeleted, or has ended and is not removed yet. By path. */
export type Side = ReadonlyMap<string, SideResource>;

/** An org at two moments. */
export interface Sides {
  readonly id: string;
  readonly name: string;
  /** Its head. */
  readonly revision: string;
  /** The moment of then. */
  readonly moment: Moment;
  readonly org: { readonly now: Org; readonly past: Org };
  readonly now: Side;
  readonly past: Side;
}

const definedTypes: Readonly<Record<FileType, ResourceType>> = {
  member: "Member",
  role: "Role",
  group: "Group",
  project: "Project",
  subgroup: "Subgroup",
  membership: "GroupMember",
  "role binding": "RoleBinding",
  "identity provider": "IdentityProvider",
  client: "Client",
  webhook: "Webhook",
};

/** What goes with others without an entry of its own in the log. */
const goWithOthers: ReadonlySet<FileType> = new Set(["subgroup", "membership", "role binding"]);

/** Columns that no file has, and the log has in another form than the table. */
const notCompared: ReadonlySet<string> = new Set(["public_key", "previous_public_key"]);

const rowsOfChunk = 500;

interface ReadCall {
  readonly slices: CallSlices;
  readonly signal: () => AbortSignal;
}

interface SidesReader {
  readonly database: Pick<Database, "reads">;
  readonly registry: Pick<ResourceRegistry, "definitionOf">;
}

/**
 * Reads both. Holds no lock of the org.
 *
 * @throws ServiceError REVISION_EXPIRED when the log does not have all of it, LIMIT_EXCEEDED for more than a file may have,
 *   RESOURCE_NOT_FOUND, SERVICE_UNAVAILABLE.
 */
export function readSides(
  { database, registry }: SidesReader,
  orgId: string,
  moment: Moment,
  { slices, signal }: ReadCall,
): Promise<Sides> {
  const ofOrg = registry.definitionOf("Org");
  return database.reads
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (db) => {
      const org = await readPastOrg<Columns & { readonly name: string }>(db, orgId, moment, ofOrg.storage.columns);
      const { hasRemovals } = await readRemovals(db, org, moment);
      const read = (at: Moment, removals: boolean) =>
        readRows(db, registry, org, at, { state: undefined, hasRemovals: removals }, signal);
      const past = await read(moment, hasRemovals);
      const now = await read({ revision: org.head, time: org.head_time, head_time: org.head_time }, false);
      await requireHead(db, org);
      const toSide = (rows: RowsByType) => slices.run(readResources(registry, rows));
      const toOrg = (row: Columns): Org => toWholeFileMessage(OrgSchema, toLoggedMessage(ofOrg, row, "") as Org);
      return {
        id: org.id,
        name: org.now.name,
        revision: org.head,
        moment,
        org: { now: toOrg(org.now), past: toOrg(org.row) },
        now: await toSide(now),
        past: await toSide(withStandIns(past, now)),
      };
    });
}

async function readRows(
  db: Transaction<Schema>,
  registry: SidesReader["registry"],
  org: PastOrg<{ readonly name: string }>,
  moment: Moment,
  base: PastBase,
  signal: () => AbortSignal,
): Promise<RowsByType> {
  const found = new Map<FileType, Columns[]>();
  let count = 0;
  for (const type of fileTypes) {
    const { type: logged, storage } = registry.definitionOf(definedTypes[type]);
    const table = {
      type: logged,
      table: storage.table,
      key: storage.key.filter((column) => column !== "org_id"),
      columns: storage.columns.filter((column) => !notCompared.has(column)),
      chunkSize: rowsOfChunk,
      isRemovedWithOthers: goWithOthers.has(type),
    };
    const ofType: Columns[] = [];
    found.set(type, ofType);
    for await (const rows of readPastRows(db, org, moment, table, base)) {
      for (const row of rows as readonly Columns[]) if (isOfFiles(type, row)) ofType.push(row);
      count += rows.length;
      if (count > maxResources) throw tooManyResources(`/orgs/${org.now.name}`, "the org");
      await nextTurn();
      signal().throwIfAborted();
    }
  }
  return found;
}

/** A file does not have role bindings on something outside the org. */
function isOfFiles(type: FileType, { scope_type: scope }: Columns): boolean {
  return type !== "role binding" || scope === "ORG" || scope === "PROJECT";
}

function* readResources(registry: SidesReader["registry"], found: RowsByType): Steps<Side> {
  const isStepOver = createStepCounter();
  const side = new Map<string, SideResource>();
  for (const [type, rows] of found) {
    const definition = registry.definitionOf(definedTypes[type]);
    for (const row of rows) {
      const resource = toResource(type, definition, row);
      side.set(resource.path, resource);
      if (isStepOver()) yield;
    }
  }
  return side;
}

function toResource(type: FileType, definition: ResourceDefinition, row: Columns): SideResource {
  const { storage, pathOf, logged } = definition;
  const below = pathBelowOrg(pathOf({ ...row, ...logged.joinedById(row as never) } as never));
  const id = String(row[storage.id]);
  // What has a name has it at the end.
  const path = `${below.slice(0, below.lastIndexOf("/"))}/@${id}`;
  const { schema } = fileForms[type];
  const message = toWholeFileMessage(schema, toLoggedMessage(definition, row, path));
  return { type, id, createTime: undefined, path, message, row, name: textOf(row["name"]) };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
