import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Member, MemberSchema, Member_State, Member_Type } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { Members } from "../../database/schema.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { deletionFields, namedFields } from "../../standard-methods/named-fields.ts";
import type { MemberRow } from "./store.ts";

const types = { USER: Member_Type.USER, APPLICATION: Member_Type.APPLICATION } as const;

const states = {
  INVITED: Member_State.INVITED,
  ACTIVE: Member_State.ACTIVE,
  SUSPENDED: Member_State.SUSPENDED,
} as const;

export function toMember(row: MemberRow): Member {
  return create(MemberSchema, {
    path: memberPath(row),
    ...namedFields(row),
    ...deletionFields(row),
    type: memberType(row),
    state: memberState(row),
    ...(row.invitation_expire_time !== null && {
      invitationExpireTime: timestampFromDate(row.invitation_expire_time),
    }),
  });
}

export function memberPath(row: MemberRow): string {
  return formatPath(patterns.Member, orgPathName(row), pathName(row));
}

export const memberType = (row: Pick<Members, "type">): Member_Type => types[row.type];

export const memberState = (row: Pick<Members, "state" | "delete_time">): Member_State =>
  row.delete_time === null ? states[row.state] : Member_State.DELETED;

export const toMemberColumnType = (type: Member_Type): Members["type"] =>
  type === Member_Type.APPLICATION ? "APPLICATION" : "USER";
