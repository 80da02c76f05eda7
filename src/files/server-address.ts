// Where a server of this machine listens, in a file of its data directory, so that commands of its user find it at any port.
import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";

export function serverAddressFile(dataDirectory: string): string {
  return join(dataDirectory, "server-address");
}

/** Returns the line of the file: `http://127.0.0.1:8080 1234 567890`, with the id of the process and its start, as `readStart` returns it. */
export async function formatServerAddress(url: string, pid: number): Promise<string> {
  return `${url} ${pid} ${await readStart(pid)}`;
}

const maxBytes = 200;
const form = /^(http:\/\/(?:127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}) (\d{1,10}) (\d{1,20}|-)\n$/;

/**
 * Returns the address that a server with a data directory has noted; undefined if there is none. The key of the operator is sent there. So
 * nobody else may have written the file, it may be no link to another one, and its server must run: at the port of one that was killed,
 * another program can listen.
 */
export async function readServerAddress(dataDirectory: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(serverAddressFile(dataDirectory), flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stat = await file.stat();
    const isOurs = stat.isFile() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
    if (!isOurs || stat.size > maxBytes) return undefined;
    const [, url, pid, start] = form.exec(await file.readFile("utf8")) ?? [];
    if (url === undefined || !URL.canParse(url) || !isRunning(Number(pid))) return undefined;
    return (await readStart(Number(pid))) === start ? url : undefined;
  } finally {
    await file.close();
  }
}

/**
 * Returns when a process was started, in ticks since the machine was: another process can get its id later, or have it in a container.
 * `-` where the system does not tell, which is not Linux.
 */
async function readStart(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name of the command, in parentheses, may have spaces. The start is the 20th field after it (proc(5)).
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "-";
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
