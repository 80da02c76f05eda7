import { type RawBuilder, type SqlBool, sql } from "kysely";
import { invalidField } from "../../errors/service-error.ts";
import { findEmailProblem, foldEmail } from "../../validation/email-address.ts";

/**
 * Returns an address as it is stored: as it was given; null for an empty text.
 *
 * @throws ServiceError FIELD_INVALID
 */
export function readEmail(text: string, field: string): string | null {
  if (text === "") return null;
  const problem = findEmailProblem(text);
  if (problem === undefined) return text;
  throw invalidField(field, `must be an address such as alice@example.com: ${problem}`, "email");
}

/** The condition that a member has an address, which an index answers. */
export function hasAddress(email: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(members.email is not null and lower(members.email collate "C") = ${foldEmail(email)})`;
}
