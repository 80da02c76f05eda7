import { type ScimSource, ScimSource_Subject as Subject } from "../../../gen/iam/v1alpha/scim_source_pb.ts";
import type { ScimSources } from "../../database/scim-tables.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { ScimSourceRow } from "./store.ts";

export function toScimSource(row: ScimSourceRow): ScimSource {
  const { member_id: id, member_name: name, member_delete_time, provider_name: provider } = row;
  const org = orgPathName(row);
  const member = id === null ? undefined : pathName({ id, name: name ?? `@${id}`, delete_time: member_delete_time });
  return {
    $typeName: "iam.v1alpha.ScimSource",
    path: scimSourcePath(row),
    ...namedFields(row),
    memberPath: member === undefined ? "" : formatPath(patterns.Member, org, member),
    identityProviderPath: provider === null ? "" : formatPath(patterns.IdentityProvider, org, provider),
    subject: Subject[row.subject],
  };
}

export function scimSourcePath(row: ScimSourceRow): string {
  return formatPath(patterns.ScimSource, orgPathName(row), row.name);
}

export const toSubjectColumn = (subject: Subject): ScimSources["subject"] =>
  subject === Subject.USER_NAME ? "USER_NAME" : "EXTERNAL_ID";
