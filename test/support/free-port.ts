import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Systems give ports from here on to connections and to listeners that name none: Linux from 32768, others from 49152. */
const firstGiven = 32_768;

/** Returns a port on which nothing listens, and which the system gives to nobody who does not name it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, firstGiven);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
