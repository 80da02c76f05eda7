import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { Updateable } from "kysely";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import type { Schema } from "../../database/schema.ts";
import { ServiceError, deleted } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { applyUpdate } from "./apply-update.ts";
import { alone } from "../batch/batch-item.ts";
import { platform } from "../../access/evaluation/target-path.ts";
import {
  type ResourceDefinition,
  type ResourceRow,
  type ResourceTable,
  isNamed,
  scopeColumnOf,
} from "../definition/definition.ts";
import { permissionToRename } from "../definition/method-permissions.ts";
import type { NamedFields } from "../named-fields.ts";
import { required } from "../../errors/required.ts";
import { idOf } from "../rows/row-key.ts";
import { updateRow } from "../rows/update-row.ts";
import type { ServedResource } from "../rules.ts";
import { invalidExpiry } from "./expire-time.ts";
import { readByKeys } from "../read/row-reader.ts";
import { validateMessage } from "../../validation/validate-message.ts";
import type { WriteCall } from "./write-call.ts";
import { messageAtPath } from "./at-path.ts";
import { checkNew } from "./check-new.ts";
import { planCreation } from "./create.ts";
import { mapErrors } from "./map-errors.ts";
import { locksOf } from "./open-write.ts";
import { requireFound } from "./require-found.ts";
import { type Plan, writeRows } from "./write-rows.ts";

/** An Update request. */
export interface Update<Desc extends DescMessage> {
  readonly patch: MessageShape<Desc>;
  readonly mask: FieldMask | undefined;
  /** The request field that holds the patch. */
  readonly field: string;
}

/** Updates a resource, or creates it if it does not exist and the request allows that (AIP-134). */
export async function updateOne<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  call: WriteCall,
  path: readonly Reference[],
  { patch, mask, field }: Update<Desc>,
): Promise<Row> {
  const { definition, reader, rules } = served;
  const etag = "etag" in patch ? String(patch.etag) : "";
  const mayBeMissing = call.request.allowMissing && etag === "";
  const isNew = mayBeMissing && (await reader.find(call.db, path)) === undefined;
  const locks = await locksOf(rules.scope, call.db, path, isNew ? patch : undefined);
  return writeRows(served, call, {
    locks,
    async prepare(transaction) {
      const found = await reader.find(transaction.db, path);
      if (found === undefined && mayBeMissing) {
        const message = messageAtPath(served, path, patch, field);
        validateMessage(definition.schema, message, `${field}.`);
        const one = { parents: [path.slice(0, -1)], messages: [message], checked: await checkNew(served, [message]) };
        return planCreation(served, transaction, one, alone, ([row]: readonly Row[]) => required(row));
      }
      if (found === undefined && call.request.allowMissing) throw staleIfMissing(served, path);
      const before = await requireFound(served, transaction, found, path, etag);
      if (before.delete_time) throw deleted(definition.label.one, definition.pathOf(before));
      return planUpdate(served, transaction, before, () => {
        const current = definition.toMessage(before);
        const { resource, changed } = applyUpdate(definition.schema, current, patch, mask, field);
        return changed ? resource : undefined;
      });
    },
  });
}

/** Without its etag, the request would have created what is missing, so the condition decides (RFC 9110, 13.2.1). */
function staleIfMissing<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition: { label }, place }: ServedResource<Table, Row, Desc>,
  path: readonly Reference[],
): ServiceError {
  const resource = formatReferences(place.pattern, path);
  const message = `there is no ${label.one} ${resource}, and with an etag none is created`;
  return new ServiceError("ETAG_STALE", message, { metadata: { resource } });
}

/**
 * Returns the plan to update a row to match a message.
 *
 * @param read returns the message, or fails, once it is known that the row may be changed at all; undefined if nothing changes.
 */
export function planUpdate<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  row: Row,
  read: () => MessageShape<Desc> | undefined,
): Plan<Row, Row> {
  let update: { readonly message: MessageShape<Desc>; readonly columns: Updateable<Schema[Table]> } | undefined;
  return {
    rows: [row],
    async check() {
      const message = read();
      if (message === undefined) return [];
      await requireMayRename(served, transaction, row, message);
      const columns = (await served.rules.change?.(transaction, row, message)) ?? {};
      update = { message, columns };
      return [{ step: "update", row, after: { ...row, ...columns } }];
    },
    async apply() {
      if (update === undefined) return { changes: [{ before: row, after: row }] };
      const { message, columns } = update;
      const writing = writeRow(served, transaction, row, message, columns);
      return { changes: [{ before: row, after: await writing.catch(mapErrors(served, transaction.author, message)) }] };
    },
    answer: ([after]) => required(after),
  };
}

async function writeRow<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition }: ServedResource<Table, Row, Desc>,
  { db, org, revision, time }: OrgTransaction,
  row: Row,
  message: MessageShape<Desc>,
  columns: Updateable<Schema[Table]>,
): Promise<Row> {
  const change = { columns, ...(isNamed(definition) && { fields: message as MessageShape<Desc> & NamedFields }) };
  const updated = { ...row, ...(await updateRow({ db, org, revision, time }, definition, row, change)) };
  const { expireField, joinsAnew = false } = definition.storage;
  if (expireField === undefined && !joinsAnew) return updated;
  // The new expiry may have passed by the database's clock.
  const [kept] = await readByKeys(db, definition, [updated]);
  if (kept === undefined) throw invalidExpiry(expireField ?? "");
  return kept;
}

/**
 * Checks that the caller may rename a resource. A new name can grant access through conditions that test the name. The answer
 * to a name that is unique on the whole platform tells whether somebody else has it.
 *
 * @throws ServiceError PERMISSION_DENIED or GRANT_EXCEEDS_OWN
 */
async function requireMayRename<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition, place, dependencies: { authorHolds, escalation } }: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  row: Row,
  message: MessageShape<Desc>,
): Promise<void> {
  if (!isNamed(definition) || nameOf(row) === nameOf(message)) return;
  const permission = permissionToRename(definition);
  if (permission !== "" && !(await authorHolds(transaction.db, transaction.author, permission, platform))) {
    throw mayNotRename(definition, permission);
  }
  const scope = scopeColumnOf(definition, place);
  const id = scope.kind === "platform" ? "" : ((row as Record<string, unknown>)[scope.column] as string);
  await escalation.requireMayRename(transaction, {
    type: definition.type,
    id: idOf(definition, row),
    scope: { kind: scope.kind, id },
  });
}

function mayNotRename({ label }: ResourceDefinition, permission: string): ServiceError {
  const message = `the caller lacks the permission ${permission} on the platform, which a change of the name requires: the names of ${label.many} are unique on the whole platform`;
  return new ServiceError("PERMISSION_DENIED", message, { metadata: { permission } });
}

const nameOf = (holder: object): string => (holder as { readonly name: string }).name;
