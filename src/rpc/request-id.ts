import { createContextKey } from "@connectrpc/connect";

/** The id under which the request is logged and answered. */
export const requestIdKey = createContextKey("", { description: "request id" });
