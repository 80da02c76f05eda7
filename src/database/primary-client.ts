// Connections go to the primary: the one of several hosts that is no standby. PostgreSQL tells at the login whether it is one, so that
// costs no statement. Names are resolved for each connection. Which host was the primary last is shared by all pools.
import pg from "pg";
import { type Host, parseDatabaseUrl, readTlsFiles } from "./database-url.ts";

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
  /** Everything but the host, for pools and clients of the class below. */
  readonly config: pg.ClientConfig;
  /** Opens connections to the host that comes next. */
  readonly Client: typeof pg.Client;
  /** How many hosts there are to try. */
  readonly hosts: number;
}

/** @param acceptsStandby for what only reads one moment, such as a dump. */
export function addressOf(connection: ConnectionSettings, acceptsStandby = false): DatabaseAddress {
  if (!("connectionString" in connection)) {
    const { host, port, ...config } = connection;
    return { config, Client: createClientClass([{ host, port }], acceptsStandby), hosts: 1 };
  }
  const { hosts, ssl, ...login } = parseDatabaseUrl(connection.connectionString);
  const config = { ...login, ssl: ssl === false ? false : readTlsFiles(ssl) };
  return { config, Client: createClientClass(hosts, acceptsStandby), hosts: hosts.length };
}

type OnConnected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

function createClientClass(hosts: readonly [Host, ...Host[]], acceptsStandby: boolean): typeof pg.Client {
  let current = 0;

  return class PrimaryClient extends pg.Client {
    readonly #index = current;
    #isStandby = false;

    constructor(config?: string | pg.ClientConfig) {
      super({ ...(typeof config === "object" ? config : {}), ...(hosts[current] ?? hosts[0]) });
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
      super.connect((error: Error | null | undefined) => {
        const failure = error ?? this.#refusal() ?? null;
        // Not if another connection has done so meanwhile.
        if (failure !== null && current === this.#index) current = (current + 1) % hosts.length;
        (callback as (error: Error | null) => void)(failure);
      });
    }

    /** What it reports is known only once it is connected. */
    #refusal(): Error | undefined {
      if (!this.#isStandby || acceptsStandby) return undefined;
      this.on("error", () => {});
      void this.end().catch(() => {});
      const { host, port } = hosts[this.#index] ?? hosts[0];
      return new StandbyError(
        `the database server ${host}:${port} is a standby, which may lag behind: DATABASE_URL must lead to the primary, or name all hosts, as in postgres://user@first,second/database`,
      );
    }
  };
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
      if (attempt >= hosts) throw errors.find((each) => each instanceof StandbyError) ?? error;
    }
  }
}
