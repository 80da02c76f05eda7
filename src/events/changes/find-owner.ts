// Whose log a call reads.
import type { HandlerContext } from "@connectrpc/connect";
import { lifting } from "../../access/evaluation/allows.ts";
import type { Holds } from "../../access/evaluation/author-holds.ts";
import type { CallerAuthoriser } from "../../access/evaluation/authorise.ts";
import { patternOf, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import { notFound } from "../../errors/service-error.ts";
import { customerDefinition } from "../../iam/customers/definition.ts";
import { customerPath } from "../../iam/customers/message.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import { orgPath } from "../../iam/orgs/message.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { isSamePattern, patterns, singletonPath } from "../../paths/patterns.ts";
import type { ProviderDependencies } from "../../resources/provider-dependencies.ts";
import type { LogOwner } from "./log-owner.ts";

export interface FoundOwner {
  readonly owner: LogOwner;
  /** Of the log. */
  readonly path: string;
  /** Whether the caller sees what is in suspended orgs. A path that names an org is decided on it. */
  readonly suspended: boolean;
}

export type FindOwner = (context: HandlerContext, decide: CallerAuthoriser) => Promise<FoundOwner>;

const logAt = (parentPath: string): string => singletonPath("ChangeLog", parentPath);

/** Creates the function that finds whose log a call reads. It throws ServiceError RESOURCE_NOT_FOUND. */
export function createFindOwner({ readers, installation }: ProviderDependencies): FindOwner {
  const orgs = readers.readerOf(orgDefinition, orgDefinition.places[0]);
  const customers = readers.readerOf(customerDefinition, customerDefinition.places[0]);
  return async (context, decide) => {
    const pattern = patternOf(context);
    if (isSamePattern(pattern, patterns.Org)) {
      const path = targetOf(context, patterns.Org);
      const row = await orgs.lookup(path, visibleOf(context));
      if (row === undefined) throw notFound("org", formatReferences(patterns.Org, path));
      return { owner: { kind: "org", id: row.id }, path: logAt(orgPath(row)), suspended: true };
    }
    const target = { pattern, references: targetOf(context, pattern) };
    const suspended = await holdsOf(decide)(lifting.org, target);
    if (pattern.length === 0) return { owner: { kind: "platform" }, path: logAt(""), suspended };
    const path = targetOf(context, patterns.Customer);
    const row = await customers.lookup(path, visibleOf(context));
    if (row === undefined) throw notFound("customer", formatReferences(patterns.Customer, path));
    const owner = { kind: "customer", id: row.id, systemOrgId: installation.systemOrgId } as const;
    return { owner, path: logAt(customerPath(row)), suspended };
  };
}

/** Returns what tells whether a caller holds a permission. */
export function holdsOf({ decideQuietly }: CallerAuthoriser): Holds {
  return async (permission, path) => (await decideQuietly({ permission, listVisibility: "never" }, path)) !== undefined;
}
