import { type Member, Member_State, Member_Type } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { Members } from "../../database/schema.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { deletionFields, namedFields } from "../../standard-methods/named-fields.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import type { MemberRow } from "./store.ts";

const types = { USER: Member_Type.USER, APPLICATION: Member_Type.APPLICATION } as const;

const states = {
  INVITED: Member_State.INVITED,
  ACTIVE: Member_State.ACTIVE,
  SUSPENDED: Member_State.SUSPENDED,
} as const;

export function toMember(row: MemberRow): Member {
  return {
    $typeName: "iam.v1alpha.Member",
    path: memberPath(row),
    ...namedFields(row),
    ...deletionFields(row),
    type: memberType(row),
    state: memberState(row),
    invitationExpireTime: toTimestamp(row.invitation_expire_time),
    // Entries of the log from before addresses have none.
    email: row.email ?? "",
  };
}

export function memberPath(row: MemberRow): string {
  return formatPath(patterns.Member, orgPathName(row), pathName(row));
}

/** A member that a row refers to by ids alone, with its names as they are now. */
interface FormerMember {
  readonly orgId: string | null;
  readonly orgName: string | null;
  readonly orgDeleteTime: Date | null;
  readonly id: string | null;
  readonly name: string | null;
  readonly deleteTime: Date | null;
}

/** Returns the path of a member of any org; empty if it no longer exists. */
export function formerMemberPath({ orgId, orgName, orgDeleteTime, id, name, deleteTime }: FormerMember): string {
  if (orgId === null || orgName === null || id === null || name === null) return "";
  const org = { id: orgId, name: orgName, delete_time: orgDeleteTime };
  return formatPath(patterns.Member, pathName(org), pathName({ id, name, delete_time: deleteTime }));
}

export const memberType = (row: Pick<Members, "type">): Member_Type => types[row.type];

export const memberState = (row: Pick<Members, "state" | "delete_time">): Member_State =>
  row.delete_time === null ? states[row.state] : Member_State.DELETED;

export const toMemberColumnType = (type: Member_Type): Members["type"] =>
  type === Member_Type.APPLICATION ? "APPLICATION" : "USER";
