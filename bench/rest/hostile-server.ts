// The server for hostile requests, in its own process. Replies to any message with its peak memory.
import type { AddressInfo } from "node:net";
import { createHostileServer } from "../../test/rest/support/hostile-requests.ts";

const server = createHostileServer();
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));

/** In KiB. */
process.on("message", () => process.send?.(process.resourceUsage().maxRSS));
