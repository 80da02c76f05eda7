// Clients of one server, or of the proxy.
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { MeService } from "../../gen/iam/v1alpha/me_pb.ts";
import { createAccessClient } from "../../test/support/access-place.ts";
import { createTransport } from "../../test/support/transports.ts";
import type { Peer } from "./access-work.ts";

/** Returns a client that asks a server about access, with the key of an org. */
export function createPeer(server: string, url: string, key: string): Peer {
  return {
    server,
    access: createAccessClient("Connect", url, key),
    async accepts(secret, options) {
      try {
        await createClient(MeService, createTransport("REST", url, secret)).getMe({}, options);
        return true;
      } catch (thrown) {
        if (thrown instanceof ConnectError && thrown.code === Code.Unauthenticated) return false;
        throw thrown;
      }
    },
  };
}
