import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Member_Type, Member_TypeSchema } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { Creation } from "./creation.ts";

/**
 * The fields of a resource that an organisation file determines, by their names in the API, with the values that the resource
 * has after its creation. Files have no labels and states, so these are not compared.
 */
export type ComparedFields = Readonly<Record<string, string | readonly string[]>>;

interface Named {
  readonly name?: string;
  readonly displayName?: string;
  readonly description?: string;
}

interface Limited {
  readonly startTime?: Timestamp | undefined;
  readonly expireTime?: Timestamp | undefined;
  readonly condition?: string;
}

/** Returns the fields that a resource has after its creation. */
export function fieldsOfCreation(creation: Creation): ComparedFields {
  const { kind, request } = creation;
  switch (kind) {
    case "org":
      return fieldsOfNamed(request.org ?? {});
    case "member":
      return fieldsOfMember(request.member ?? {});
    case "group":
      return fieldsOfNamed(request.group ?? {});
    case "project":
      return fieldsOfNamed(request.project ?? {});
    case "role":
      return fieldsOfRole(request.role ?? {});
    case "subgroup":
      return {};
    case "membership":
    case "role binding":
      return fieldsOfLimited({});
  }
}

export function fieldsOfNamed({ name = "", displayName = "", description = "" }: Named): ComparedFields {
  return { display_name: (displayName === "" ? name : displayName).normalize("NFC"), description };
}

export function fieldsOfMember({
  type = Member_Type.USER,
  ...member
}: Named & { readonly type?: Member_Type }): ComparedFields {
  return { ...fieldsOfNamed(member), type: Member_TypeSchema.value[type]?.name ?? "" };
}

export function fieldsOfRole({ permissions = [] }: { readonly permissions?: readonly string[] }): ComparedFields {
  return { permissions };
}

/** Returns what limits a membership or a role binding. Nothing limits those of a file. */
export function fieldsOfLimited({ startTime, expireTime, condition = "" }: Limited): ComparedFields {
  return { start_time: formatTime(startTime), expire_time: formatTime(expireTime), condition };
}

function formatTime(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
