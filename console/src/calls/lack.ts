// What somebody lacks for what the service has refused. It names the permission; what it was asked about, the request says.
import { ConnectError, Code } from "@connectrpc/connect";
import type { Message } from "@bufbuild/protobuf";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";

export interface Lack {
  readonly permission: string;
  /** On what it is required, such as `/orgs/acme/projects/web`; empty for the platform, undefined if that is not known. */
  readonly on: string | undefined;
  /** Whether nobody can do it because that is suspended. */
  readonly isSuspended: boolean;
  /** The smallest role that has the permission, if the person may know it. */
  readonly role: string | undefined;
  /** The members who can grant it, if the person may know them. */
  readonly granters: readonly string[];
}

const targets = new WeakMap<ConnectError, string>();

/** Keeps what a call was about that was refused. */
export function noteTarget(failure: ConnectError, request: Message): void {
  const { path, resourcePath, parentPath } = request as Readonly<Record<string, unknown>>;
  const target = [path, resourcePath, parentPath].find((each) => typeof each === "string");
  if (typeof target === "string") targets.set(failure, target === "" ? "" : `/${target.replace(/^\//, "")}`);
}

/** Returns what is lacking for a call; undefined where the service refused it for another reason, such as what an API key leaves out. */
export function lackIn(error: unknown): Lack | undefined {
  const failure = ConnectError.from(error);
  const { reason = "", metadata = {} } = failure.findDetails(ErrorInfoSchema)[0] ?? {};
  const { permission, narrowed_by: narrowed, support_access: support, resource, state, role, granters = "" } = metadata;
  if (failure.code !== Code.PermissionDenied || reason !== "PERMISSION_DENIED" || permission === undefined)
    return undefined;
  if (narrowed !== undefined || support !== undefined) return undefined;
  return {
    permission,
    on: resource ?? targets.get(failure),
    isSuspended: state === "SUSPENDED",
    role,
    granters: granters.split(" ").filter(Boolean),
  };
}
