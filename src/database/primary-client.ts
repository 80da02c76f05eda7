// Connections go to the primary: the one of several hosts that is no standby. PostgreSQL tells at the login whether it is one, so that
// costs no statement; whether it is the latest primary, it is asked (`timelines.ts`). Names are resolved for each connection. Which host was
// the primary last is shared by all pools.
import pg from "pg";
import { type Host, parseDatabaseUrl, usualConnectMs } from "./database-url.ts";
import { FormerPrimaryError, type Timelines } from "./timelines.ts";
import { type ReadTls, explainCertificates, openTlsFiles } from "./tls-files.ts";

/** The address of a PostgreSQL server: a URL, or the parameters that `pg` takes. */
export type ConnectionSettings =
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string };

/** A server answers that is a standby. Another host, or the same one later, may be the primary. */
export class StandbyError extends Error {
  override readonly name = "StandbyError";
}

/** How to connect to a database. */
export interface DatabaseAddress {
  /** Everything but the host and its certificates, for pools and clients of the class below. A pool hides the password from what copies it. */
  readonly config: pg.ClientConfig;
  /** How the next connection is encrypted, for other clients. */
  readonly readTls: ReadTls;
  /** Opens connections to the host that comes next. */
  readonly Client: typeof pg.Client;
  /** How many hosts there are to try. */
  readonly hosts: number;
  /** Returns the hosts to which the next connection does not go. */
  readonly others: () => readonly OtherHost[];
}

export interface OtherHost {
  readonly host: Host;
  /** Lets the next connections go there. */
  readonly use: () => void;
}

interface AddressOptions {
  /** For what only reads one moment, such as a dump. */
  readonly acceptsStandby?: boolean | undefined;
  /** Where former primaries are refused. */
  readonly timelines?: Timelines | undefined;
  /** Called for a certificate that was replaced by what cannot be used. */
  readonly onError?: ((error: Error) => void) | undefined;
}

export function addressOf(connection: ConnectionSettings, options: AddressOptions = {}): DatabaseAddress {
  if (!("connectionString" in connection)) {
    const { host, port, ...login } = connection;
    const config = { ...login, connectionTimeoutMillis: usualConnectMs };
    const readTls = (): false => false;
    return { config, readTls, ...createClientClass([{ host, port }], readTls, usualConnectMs, options), hosts: 1 };
  }
  const { hosts, ssl, connectMs, ...login } = parseDatabaseUrl(connection.connectionString);
  const config = { ...login, connectionTimeoutMillis: connectMs };
  const readTls = openTlsFiles(ssl, options.onError ?? (() => {}));
  return { config, readTls, ...createClientClass(hosts, readTls, connectMs, options), hosts: hosts.length };
}

type OnConnected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

function createClientClass(
  hosts: readonly [Host, ...Host[]],
  readTls: ReadTls,
  connectMs: number,
  { acceptsStandby = false, timelines }: AddressOptions,
): Pick<DatabaseAddress, "Client" | "others"> {
  let current = 0;
  const others = (): OtherHost[] =>
    hosts
      .map((host, index) => ({ host, use: () => void (current = index) }))
      .filter((_each, index) => index !== current);

  class PrimaryClient extends pg.Client {
    readonly #index = current;
    #isStandby = false;

    constructor(config?: string | pg.ClientConfig) {
      const given = typeof config === "object" ? config : {};
      super({ ...given, password: given.password, ssl: readTls(), ...(hosts[current] ?? hosts[0]) });
      this.connection.on("parameterStatus", (status: { parameterName: string; parameterValue: string }) => {
        if (status.parameterName === "in_hot_standby") this.#isStandby = status.parameterValue === "on";
      });
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: OnConnected): void;
    override connect(callback?: OnConnected): Promise<pg.Client> | void {
      if (callback === undefined) {
        return new Promise((resolve, reject) => {
          this.connect((error: Error | null) => (error === null ? resolve(this) : reject(error)));
        });
      }
      const done = (failure: Error | null): void => {
        // Not if another connection has done so meanwhile.
        if (failure !== null && current === this.#index) current = (current + 1) % hosts.length;
        (callback as (error: Error | null) => void)(failure);
      };
      super.connect((error: Error | null | undefined) => {
        if (error) return done(explainCertificates(error, this.#where()));
        if (acceptsStandby) return done(null);
        // A connection that breaks meanwhile fails what is asked. Without a listener, the event would also end the process.
        this.on("error", () => {});
        this.#examine().then(
          () => done(null),
          (refusal: Error) => {
            void this.end().catch(() => {});
            done(refusal);
          },
        );
      });
    }

    #where(): string {
      const { host, port } = hosts[this.#index] ?? hosts[0];
      return `${host}:${port}`;
    }

    /** What it reports is known only once it is connected. */
    async #examine(): Promise<void> {
      if (this.#isStandby) {
        throw new StandbyError(
          `the database server ${this.#where()} is a standby, which may lag behind: DATABASE_URL must lead to the primary, or name all hosts, as in postgres://user@first,second/database`,
        );
      }
      // A server that has accepted the login may take as long once more to say whether it is the latest primary.
      if (timelines !== undefined) await answerWithin(connectMs, this, () => timelines.check(this, this.#where()));
    }
  }
  return { Client: PrimaryClient, others };
}

/** Runs what asks a server, whose connection is closed if it does not answer in time. */
async function answerWithin(ms: number, { connection }: pg.Client, ask: () => Promise<void>): Promise<void> {
  const timer = setTimeout(() => connection.stream.destroy(new Error("timeout expired")), ms);
  await ask().finally(() => clearTimeout(timer));
}

/** Runs a function that opens a connection, again for as many hosts as there are. */
export async function onFirstPrimary<Result>(hosts: number, open: () => Promise<Result>): Promise<Result> {
  const errors: unknown[] = [];
  for (let attempt = 1; ; attempt++) {
    try {
      return await open();
    } catch (error) {
      // The server has refused the login, not the connection: another one would as well.
      const isOfLogin = error instanceof pg.DatabaseError && error.code?.startsWith("57P") !== true;
      errors.push(error);
      if (hosts === 1 || isOfLogin) throw error;
      if (attempt >= hosts)
        throw errors.find((each) => each instanceof StandbyError || each instanceof FormerPrimaryError) ?? error;
    }
  }
}
