import type { Message } from "@bufbuild/protobuf";
import type { ChangedValue } from "./changed-values.ts";
import type { FileType } from "./file-resources.ts";

export type Action = "create" | "update" | "replace" | "delete" | "undelete" | "activate" | "suspend";

/** A change of a resource, of limits of a quota, or of the org itself, whose path is empty. */
export interface PlannedChange {
  readonly action: Action;
  readonly type: FileType | "quota" | "org";
  /** The path below the org. */
  readonly path: string;
  /** The path for the call, if it has ids where `path` has names. */
  readonly callPath?: string;
  /** The fields that change, by their names in protos. */
  readonly fields: readonly string[];
  /** The resource as the file has it; undefined for one that is deleted, or whose state changes alone. */
  readonly message: Message | undefined;
  /** That with its secrets. */
  readonly sent: Message | undefined;
  /** Where the file has it; empty for one that is deleted. */
  readonly place: string;
  /** What its fields are and would be; unset for a change that has none. */
  readonly values?: readonly ChangedValue[];
}
