import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";

/** Notes an error if it refuses a call, for the logs of the orgs that it concerns. */
export type NoteRefusal = (
  thrown: unknown,
  call: {
    readonly method: DescMethod;
    readonly values: ContextValues;
    /** The request; undefined if it was not read. */
    readonly message: unknown;
  },
) => void;
