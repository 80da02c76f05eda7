// Servers tell each other which orgs they have written, after the commits and together: to notify in the transactions would make
// PostgreSQL commit them one after the other. A hint can be lost, and behind a pooler that shares connections none arrives, so whoever
// listens also looks by itself. Hints have a connection of their own, which is opened by the first one and by the first listener. A server
// that listens has a row in `log_listeners`. Writes read with their lock whether there is any, so nothing is sent that nobody hears.
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { sql } from "kysely";
import type pg from "pg";
import type { DatabaseAddress } from "./primary-client.ts";

/** The orgs that other servers have written, by ids; undefined for any. */
type OnHint = (orgIds: readonly string[] | undefined) => void;

export interface Hints {
  /** Tells the other servers that an org was written, within some milliseconds. */
  send(orgId: string): void;
  /** Calls a function when other servers have written, until the returned function is called. There is one listener at a time. */
  listen(onHint: OnHint): () => void;
  close(): Promise<void>;
}

const channel = "tenantry_changes";

/** Whether a server listens. What begins to listen meanwhile looks by itself. */
export const isAnyListening = sql<boolean>`exists (select from log_listeners where end_time > clock_timestamp())`;

/** How often a listener says that it still listens, in milliseconds. Its row holds for three times as long, as in the statement. */
const renewMs = 30_000;
const register = `
  with ended as (delete from log_listeners where end_time < clock_timestamp() - interval '1 hour')
  insert into log_listeners (id, end_time) values ($1, clock_timestamp() + interval '90 seconds')
  on conflict (id) do update set end_time = excluded.end_time`;
const unregister = "delete from log_listeners where id = $1";
/** The least time between two hints. */
const intervalMs = 10;
/** The time after which a connection that has failed is opened again. */
const retryMs = 1_000;
/** More ids do not fit into a notification, which has 8,000 bytes at most. */
const maxIds = 200;

interface ConnectionOptions extends Pick<DatabaseAddress, "Client"> {
  readonly settings: pg.ClientConfig;
}

/**
 * @param hears whether hints reach a connection: not behind a pooler that shares connections.
 * @param onError called when the connection of a listener fails.
 */
export function createHints(
  { Client, settings }: ConnectionOptions,
  hears: boolean,
  onError: (error: Error) => void,
): Hints {
  const id = randomUUID();
  let renewal: NodeJS.Timeout | undefined;
  let listener: OnHint | undefined;
  let isListening = false;

  const listenAgain = (): void => {
    if (listener === undefined || isListening) return;
    isListening = true;
    void connection.run(`listen ${channel}`);
    void connection.run(register, [id]).then((isDone) => {
      isListening = isDone;
      if (listener === undefined) return stopListening();
      // What was written meanwhile, nobody has told.
      if (isDone) listener?.(undefined);
      else setTimeout(listenAgain, retryMs).unref();
    });
  };

  const connection = createConnection(
    { Client, settings },
    {
      onHint: (payload) => listener?.(payload === "" ? undefined : payload.split(" ")),
      onLost: (error) => {
        isListening = false;
        if (listener === undefined) return;
        onError(error);
        setTimeout(listenAgain, retryMs).unref();
      },
    },
  );

  const send = createSender((payload) => connection.run(`select pg_notify('${channel}', $1)`, [payload]));

  const stopListening = (): void => {
    listener = undefined;
    clearInterval(renewal);
    renewal = undefined;
    if (isListening) {
      void connection.run(`unlisten ${channel}`);
      void connection.run(unregister, [id]);
    }
    isListening = false;
  };

  return {
    send,

    listen(onHint) {
      if (!hears) return () => {};
      listener = onHint;
      listenAgain();
      renewal ??= setInterval(() => isListening && void connection.run(register, [id]), renewMs).unref();
      return () => {
        if (listener === onHint) stopListening();
      };
    },

    close() {
      // Its row ends by itself: what takes a statement would wait for a server that is silent.
      listener = undefined;
      clearInterval(renewal);
      return connection.close();
    },
  };
}

/** Creates the function that sends the ids of orgs, some milliseconds apart. */
function createSender(notify: (payload: string) => Promise<unknown>): (orgId: string) => void {
  const written = new Set<string>();
  let isSending = false;

  const sendAll = async (): Promise<void> => {
    const orgIds = [...written];
    written.clear();
    await notify(orgIds.length > maxIds ? "" : orgIds.join(" "));
    setTimeout(() => {
      isSending = false;
      if (written.size > 0) sendSoon();
    }, intervalMs).unref();
  };

  const sendSoon = (): void => {
    if (isSending) return;
    isSending = true;
    void sendAll();
  };

  return (orgId) => {
    written.add(orgId);
    sendSoon();
  };
}

interface Connection {
  /** Runs a statement after the one before. Returns whether it was run: not when the connection has failed, nor for a while after that. */
  run(statement: string, values?: readonly unknown[]): Promise<boolean>;
  close(): Promise<void>;
}

interface Handlers {
  /** Called with what another server has sent. */
  readonly onHint: (payload: string) => void;
  readonly onLost: (error: Error) => void;
}

/** Creates a connection that the first statement opens, and the first one after a failure opens again. */
function createConnection({ Client, settings }: ConnectionOptions, { onHint, onLost }: Handlers): Connection {
  let opening: Promise<pg.Client | undefined> | undefined;
  let current: pg.Client | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let failedAt = -Infinity;
  let isClosed = false;

  const drop = (client: pg.Client, error?: Error): void => {
    if (current !== client) return;
    current = undefined;
    opening = undefined;
    client.removeAllListeners();
    client.on("error", () => {});
    void client.end().catch(() => {});
    // A silent server would not close it, and the process would not end.
    (client.connection.stream as Socket).destroySoon();
    if (error === undefined || isClosed) return;
    failedAt = performance.now();
    onLost(error);
  };

  const open = async (): Promise<pg.Client | undefined> => {
    const client = new Client(settings);
    current = client;
    client.on("error", (error) => drop(client, error));
    client.on("end", () => drop(client, new Error("the connection for hints was closed")));
    client.on("notification", ({ processId, payload = "" }) => {
      // The connection hears its own hints, too.
      const ownId = (client as unknown as { readonly processID: number }).processID;
      if (processId !== ownId) onHint(payload);
    });
    try {
      await client.connect();
      return client;
    } catch (error) {
      drop(client, error as Error);
      return undefined;
    }
  };

  const runNow = async (statement: string, values: readonly unknown[]): Promise<boolean> => {
    if (isClosed || performance.now() < failedAt + retryMs) return false;
    const client = await (opening ??= open());
    if (client === undefined) return false;
    try {
      await client.query(statement, [...values]);
      return true;
    } catch (error) {
      drop(client, error as Error);
      return false;
    }
  };

  return {
    run(statement, values = []) {
      const done = last.then(() => runNow(statement, values));
      last = done;
      return done;
    },

    async close() {
      isClosed = true;
      const client = await opening;
      if (client !== undefined) drop(client);
    },
  };
}
