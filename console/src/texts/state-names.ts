import type { DescEnum } from "@bufbuild/protobuf";
import { wordIn } from "./enum-words.ts";

/** What people call the states and types of the API. */
export const stateNames: Readonly<Record<string, string>> = {
  ACTIVE: "Active",
  SUSPENDED: "Suspended",
  DELETED: "Deleted",
  INVITED: "Invited",
  PENDING: "Waiting",
  APPROVED: "Approved",
  REJECTED: "Rejected",
  DECLINED: "Declined",
  ENDED: "Ended",
  USER: "Person",
  APPLICATION: "Application",
  CREATED: "Created",
  UPDATED: "Changed",
  EXPIRED: "Expired",
  READ: "Read",
  ERASED: "Erased",
  PAUSED: "Paused",
  DISABLED: "Disabled",
  DELIVERED: "Delivered",
  FAILED: "Failed",
  DEAD: "Given up",
  CREATING: "Being created",
  UPDATING: "Being changed",
  DELETING: "Being deleted",
  RUNNING: "Running",
  SUCCEEDED: "Done",
  CANCELLED: "Cancelled",
};

/** Returns what people call a state or type of the API. */
export const wordFor = (schema: DescEnum, value: number): string => wordIn(stateNames, schema, value);
