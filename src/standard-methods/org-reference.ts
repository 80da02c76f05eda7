import type { OrgTransaction } from "../changes/write-in-org.ts";
import { invalidField } from "../errors/service-error.ts";
import { pathName } from "../paths/format-path.ts";
import type { Reference } from "../paths/parse-path.ts";

/** Returns a reference to the locked org, as the first reference of a path. */
export function orgReference({ org }: OrgTransaction): Reference {
  return { by: "id", value: org.id };
}

/**
 * Checks that a `_path` field points into the org of the write, whose lock covers it.
 *
 * @throws ServiceError FIELD_INVALID that names the field and the org.
 */
export function requireSameOrg({ org }: OrgTransaction, reference: Reference, field: string): void {
  const isSame =
    (reference.by === "id" && reference.value === org.id) || (reference.by === "name" && reference.value === org.name);
  if (!isSame) throw invalidField(field, `must be in the same org, /orgs/${pathName(org)}`, "same_org");
}
