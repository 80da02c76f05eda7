import type { DescEnum } from "@bufbuild/protobuf";

/** What people call the states and types of the API. */
export const stateNames: Readonly<Record<string, string>> = {
  ACTIVE: "Active",
  SUSPENDED: "Suspended",
  DELETED: "Deleted",
  INVITED: "Invited",
  PENDING: "Waiting",
  USER: "Person",
  APPLICATION: "Application",
  CREATED: "Created",
  UPDATED: "Changed",
  EXPIRED: "Expired",
  READ: "Read",
  ERASED: "Erased",
};

/** Returns what people call a value of an enum of the API; its name there if the console does not know it. */
export function wordFor(schema: DescEnum, value: number): string {
  const name = schema.value[value]?.name ?? String(value);
  return stateNames[name] ?? name;
}
