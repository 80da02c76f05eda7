// Prints how long each hostile request occupies the server, and by how much it increases peak memory:
// `node bench/rest/hostile.ts`. Each request gets its own server, which first answers valid requests.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { hostileRequests, isAlive } from "../../test/rest/support/hostile-requests.ts";

const width = Math.max(...hostileRequests.map(({ name }) => name.length));
console.log(`${"".padEnd(width)}  status        ms     peak MiB`);
for (const { name, send } of hostileRequests) {
  const child = fork(join(import.meta.dirname, "hostile-server.ts"));
  const ask = async (): Promise<number> => {
    child.send("memory");
    const [kibibytes] = (await once(child, "message")) as [number];
    return kibibytes / 1024;
  };
  const [port] = (await once(child, "message")) as [number];
  for (let left = 50; left > 0; left--) await isAlive(port);
  const before = await ask();
  const startedAt = performance.now();
  const { status } = await send(port);
  const milliseconds = performance.now() - startedAt;
  const after = await ask();
  if (!(await isAlive(port))) throw new Error(`the server does not answer after ${name}`);
  const cells = [String(status).padStart(6), milliseconds.toFixed(1).padStart(10)];
  console.log(`${name.padEnd(width)}  ${cells.join("")}${`+${(after - before).toFixed(1)}`.padStart(13)}`);
  child.kill("SIGTERM");
  await once(child, "exit");
}
