import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type OrgTransaction, beginWrite, endWrite } from "../../changes/write-in-org.ts";
import { beginInGroup, endInGroup } from "../../changes/write-group.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import { required } from "../../errors/required.ts";
import type { ServedResource } from "../rules.ts";
import type { WriteCall } from "./write-call.ts";

/** Locks the org for a write of the resource at a path. `message` is set when the resource is created. */
export async function openScope<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { rules: { scope } }: ServedResource<Table, Row, Desc>,
  { db, group, request }: WriteCall,
  path: readonly Reference[],
  message?: MessageShape<Desc>,
): Promise<OrgTransaction> {
  switch (scope.kind) {
    case "parent":
      if (group !== undefined) return beginInGroup(group, request.author);
      return beginWrite(db, required(path[0]), request.author);
    case "itself":
      return beginWrite(db, required(path[0]), request.author, "any");
    case "fixed":
      return beginWrite(db, scope.org, request.author);
    case "each":
      return beginWrite(db, await scope.find(db, path, message), request.author);
  }
}

/** Appends the changes of a transaction to the org's change log. */
export function closeScope({ group, written }: WriteCall, transaction: OrgTransaction): void {
  for (const change of transaction.changes) written.push({ org: transaction.org, change });
  if (group === undefined) endWrite(transaction);
  else endInGroup(group, transaction);
}
