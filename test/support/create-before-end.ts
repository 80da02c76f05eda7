import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";

/** How far ahead the first end is. */
const soonMs = 2_000;

interface Ending<Created> {
  readonly created: Created;
  readonly expireTime: Timestamp;
  /** A millisecond before it. All has been created by then. */
  readonly lastTime: Timestamp;
}

/**
 * Creates what ends soon. If its end has passed before all is created, as on a busy machine, creates it again with a later one.
 *
 * @param create makes something new each time.
 */
export async function createBeforeEnd<Created>(
  create: (expireTime: Timestamp) => Promise<Created>,
): Promise<Ending<Created>> {
  for (let aheadMs = soonMs; ; aheadMs *= 3) {
    const end = Date.now() + aheadMs;
    const expireTime = timestampFromMs(end);
    try {
      const created = await create(expireTime);
      if (Date.now() < end - 1) return { created, expireTime, lastTime: timestampFromMs(end - 1) };
    } catch (error) {
      if (Date.now() < end) throw error;
    }
  }
}
