import { createContextKey } from "@connectrpc/connect";

/** The context key of the request id, which is in logs and responses. */
export const requestIdKey = createContextKey("", { description: "request id" });
