import { Code, ConnectError } from "@connectrpc/connect";

const final = new Set([Code.PermissionDenied, Code.NotFound]);

/** Whether the same would be refused again. What is refused is in the security log. */
export const isFinal = (error: unknown): boolean => error !== null && final.has(ConnectError.from(error).code);
