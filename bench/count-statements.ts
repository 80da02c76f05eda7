import pg from "pg";
import pino from "pino";
import { readConfig } from "../src/config.ts";
import { startServer } from "../src/server.ts";
import { type HttpRequest, loadHttp } from "./load-http.ts";

interface CountedCase {
  readonly name: string;
  readonly connections: number;
  readonly request: () => HttpRequest;
}

const forMs = 500;

const limits = { TENANTRY_MAX_MEMBERS_PER_ORG: "1000000", TENANTRY_MAX_RESOURCES_PER_PROJECT: "1000000" };

/**
 * Prints how many statements a request takes, on a server in this process.
 *
 * @param listed whether to print the statements of cases with one connection.
 */
export async function countStatements(
  databaseUrl: string,
  dataDirectory: string,
  cases: readonly CountedCase[],
  listed: boolean,
): Promise<void> {
  const sent = watchStatements();
  const config = { ...readConfig(limits), port: 0, databaseUrl, dataDirectory };
  const server = await startServer({ ...config, accessLog: false }, pino({ level: "silent" }), (error) => {
    throw error;
  });
  try {
    for (const { name, connections, request } of cases) {
      await loadHttp(server.url, request, connections, forMs);
      let answered = 0;
      sent.length = 0;
      await loadHttp(server.url, request, connections, forMs, () => answered++);
      console.log(`${name.padEnd(34)}${(sent.length / answered).toFixed(1).padStart(11)}`);
      if (listed && connections === 1) printCounts(sent, answered);
    }
  } finally {
    await server.close();
  }
}

/** Returns the texts of the statements that are sent from now on, as they are sent. */
function watchStatements(): string[] {
  const sent: string[] = [];
  const { prototype } = pg.Client;
  const query = new Proxy(Reflect.get(prototype, "query"), {
    apply(send: (...parameters: unknown[]) => unknown, client, parameters: [string | { readonly text: string }]) {
      const [statement] = parameters;
      sent.push(typeof statement === "string" ? statement : statement.text);
      return Reflect.apply(send, client, parameters);
    },
  });
  Reflect.set(prototype, "query", query);
  return sent;
}

function printCounts(sent: readonly string[], answered: number): void {
  const counts = new Map<string, number>();
  for (const text of sent) counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const [text, count] of counts) {
    console.log(`  ${(count / answered).toFixed(2)}  ${text.replaceAll(/\s+/g, " ").slice(0, 200)}`);
  }
}
