// Looks at the hosts of the database that are not in use, because a primary may have been promoted among them while the former one still
// answers: nothing fails then, and reads would go on from what is out of date.
import pg from "pg";
import { type Repetition, repeat } from "../timers/repeat.ts";
import type { ConnectionWatch } from "./connection-watch.ts";
import type { Freshness } from "./pool-activity.ts";
import { type ConnectionSettings, type DatabaseAddress, type OtherHost, addressOf } from "./primary-client.ts";
import { type Timelines, createTimelines } from "./timelines.ts";

/** For as long as that, at most, answers may come from a former primary that nothing has stopped. */
const intervalMs = 2_000;
const lookMs = 2_000;

interface FollowedPrimary {
  readonly address: DatabaseAddress;
  /** Undefined if there is nothing to look at. */
  readonly hostWatch: Repetition<void> | undefined;
}

interface FollowOptions {
  readonly connection: ConnectionSettings;
  readonly acceptsStandby?: boolean;
}

interface Connections {
  readonly onError: (error: Error) => void;
  readonly freshness: Pick<Freshness, "endNow">;
  readonly watch: Pick<ConnectionWatch, "discardAll">;
}

/**
 * Returns an address whose connections lead to the latest primary.
 *
 * @param isPooled whether a pooler may lead to several servers. Then nothing is compared.
 * @param connections end when another server has become the primary.
 */
export function followPrimary(
  { connection, acceptsStandby = false }: FollowOptions,
  isPooled: boolean,
  { onError, freshness, watch }: Connections,
): FollowedPrimary {
  if (isPooled || acceptsStandby)
    return { address: addressOf(connection, { acceptsStandby, onError }), hostWatch: undefined };
  const timelines = createTimelines(() => {
    onError(new Error("another server is the primary now, so all connections are opened again"));
    freshness.endNow();
    watch.discardAll();
  });
  const address = addressOf(connection, { timelines, onError });
  return { address, hostWatch: address.hosts > 1 ? watchHosts(address, timelines) : undefined };
}

function watchHosts(
  { config, readTls, others }: Pick<DatabaseAddress, "config" | "readTls" | "others">,
  timelines: Timelines,
): Repetition<void> {
  const look = async ({ host, use }: OtherHost, closing: AbortSignal): Promise<void> => {
    const looking = { application_name: "tenantry hosts", connectionTimeoutMillis: lookMs };
    const client = new pg.Client({ ...config, ssl: readTls(), ...host, ...looking });
    client.on("error", () => {});
    const signal = AbortSignal.any([closing, AbortSignal.timeout(2 * lookMs)]);
    const cut = (): void => void client.connection.stream.destroy();
    signal.addEventListener("abort", cut);
    try {
      await client.connect();
      if (await timelines.isLater(client)) use();
    } catch {
      // A host that is away is not the primary.
    } finally {
      signal.removeEventListener("abort", cut);
      client.end().catch(() => {});
    }
  };
  const lookAtAll = async (closing: AbortSignal): Promise<void> => {
    await Promise.all(others().map((other) => look(other, closing)));
  };
  return repeat(lookAtAll, { intervalMs, onError: () => {} });
}
