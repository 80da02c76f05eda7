// Looks at the hosts of the database that are not in use, because a primary may have been promoted among them while the former one still
// answers: nothing fails then, and reads would go on from what is out of date.
import pg from "pg";
import { type Repetition, repeat } from "../timers/repeat.ts";
import type { DatabaseAddress, OtherHost } from "./primary-client.ts";
import type { Timelines } from "./timelines.ts";

/** For as long as that, at most, answers may come from a former primary that nothing has stopped. */
const intervalMs = 2_000;
const lookMs = 2_000;

export function watchHosts(
  { config, others }: Pick<DatabaseAddress, "config" | "others">,
  timelines: Timelines,
): Repetition<void> {
  const look = async ({ host, use }: OtherHost, closing: AbortSignal): Promise<void> => {
    const client = new pg.Client({ ...config, ...host, application_name: "tenantry", connectionTimeoutMillis: lookMs });
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
