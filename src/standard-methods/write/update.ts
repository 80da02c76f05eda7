import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
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
import { insertAll } from "./create.ts";
import { withMappedErrors } from "./map-errors.ts";
import { requireFound } from "./require-found.ts";
import { requireMayRevoke } from "./require-may-revoke.ts";
import { requireOpenParents } from "./require-open-parents.ts";
import { recordChange } from "./append-change.ts";
import { closeScope, openScope } from "./scope.ts";

/** An Update request. */
export interface Update<Desc extends DescMessage> {
  readonly patch: MessageShape<Desc> & { readonly etag?: string };
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
  const { definition, reader } = served;
  const etag = patch.etag ?? "";
  const mayBeMissing = call.request.allowMissing && etag === "";
  const isNew = mayBeMissing && (await reader.find(call.db, path)) === undefined;
  const transaction = await openScope(served, call, path, isNew ? patch : undefined);
  const found = await reader.find(transaction.db, path);
  let row: Row;
  if (found === undefined && mayBeMissing) {
    const message = messageAtPath(served, path, patch, field);
    validateMessage(definition.schema, message, `${field}.`);
    const checked = await checkNew(served, [message]);
    ({ row } = required((await insertAll(served, transaction, [path.slice(0, -1)], [message], checked, alone))[0]));
  } else {
    if (found === undefined && call.request.allowMissing) throw staleIfMissing(served, path);
    const before = await requireFound(served, transaction, found, path, etag);
    if (before.delete_time) throw deleted(definition.label.one, definition.pathOf(before));
    await requireOpenParents(served, transaction, [before], alone);
    const current = definition.toMessage(before);
    const { resource: next, changed } = applyUpdate(definition.schema, current, patch, mask, field);
    row = changed ? await changeRow(served, transaction, before, next) : before;
  }
  closeScope(call, transaction);
  return row;
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

/** Updates a row to match a message: checks, writes and records the change. */
export async function changeRow<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  transaction: OrgTransaction,
  row: Row,
  message: MessageShape<Desc>,
): Promise<Row> {
  const { definition, rules } = served;
  await requireMayRename(served, transaction, row, message);
  const after = await withMappedErrors(served, transaction.author, message, async () => {
    const columns = (await rules.change?.(transaction, row, message)) ?? {};
    await requireMayRevoke(served, transaction, [{ step: "update", row, after: { ...row, ...columns } }], alone);
    const write = () => writeRow(served, transaction, row, { message, columns });
    return rules.guard === undefined ? write() : rules.guard(transaction, "update", write);
  });
  recordChange(transaction, definition, row, after);
  return after;
}

async function writeRow<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition }: ServedResource<Table, Row, Desc>,
  { db, org, revision, time }: OrgTransaction,
  row: Row,
  { message, columns }: { readonly message: MessageShape<Desc>; readonly columns: object },
): Promise<Row> {
  const change = { columns, ...(isNamed(definition) && { fields: message as MessageShape<Desc> & NamedFields }) };
  const updated = { ...row, ...(await updateRow({ db, orgId: org.id, revision, time }, definition, row, change)) };
  const { expireField } = definition.storage;
  if (expireField === undefined) return updated;
  // The new expiry may have passed by the database's clock.
  const [kept] = await readByKeys(db, definition, [updated]);
  if (kept === undefined) throw invalidExpiry(expireField);
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
