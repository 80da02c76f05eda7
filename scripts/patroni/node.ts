// One node of a cluster: Patroni, and the PostgreSQL that it runs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Program, type Workplace, killTree, makeFolder, signalTree } from "../chaos/processes.ts";
import { readServerFile, removeSharedMemory, sharedMemoryOf } from "../chaos/shared-memory.ts";
import { postgresPrograms } from "./programs.ts";

/** In seconds. Without a word from the primary for the first, a standby takes its place. */
const times = { ttl: 20, loop_wait: 5, retry_timeout: 5 };

export interface NodeOptions {
  readonly name: string;
  readonly port: number;
  /** Of Patroni's own API. */
  readonly restPort: number;
  readonly etcdPort: number;
  readonly isSynchronous: boolean;
}

export interface Node extends NodeOptions {
  /** Starts Patroni, which starts PostgreSQL. */
  start(): void;
  /** Kills both, as if their machine had failed. */
  kill(): void;
  /** Kills Patroni alone, which leaves PostgreSQL as it is. */
  killPatroni(): void;
  /** Stops both, as a machine that is suspended. */
  pause(): void;
  resumePostgres(): void;
  resumePatroni(): void;
}

export function createNode(workplace: Workplace, options: NodeOptions): Node {
  const { directory, postgresUser: user } = workplace;
  const { name } = options;
  const folder = makeFolder(join(directory, `node-${name}`), user);
  const data = join(folder, "data");
  const file = join(directory, `patroni-${name}.yml`);
  writeFileSync(file, stringify(configOf(options, folder, data)));
  let patroni: Program | undefined;
  const postgres = (): number | undefined => Number(readServerFile(data)[0]) || undefined;
  const kill = (): void => {
    const segment = sharedMemoryOf(data);
    killTree(patroni?.pid);
    killTree(postgres());
    removeSharedMemory(segment);
  };
  workplace.onClose(kill);
  return {
    ...options,
    start: () => void (patroni = workplace.start(`patroni-${name}`, "patroni", [file], { user })),
    kill,
    killPatroni: () => killTree(patroni?.pid),
    pause() {
      signalTree(patroni?.pid, "SIGSTOP");
      signalTree(postgres(), "SIGSTOP");
    },
    resumePostgres: () => signalTree(postgres(), "SIGCONT"),
    resumePatroni: () => signalTree(patroni?.pid, "SIGCONT"),
  };
}

function configOf({ name, port, restPort, etcdPort, isSynchronous }: NodeOptions, folder: string, data: string) {
  const listen = (of: number) => ({ listen: `127.0.0.1:${of}`, connect_address: `127.0.0.1:${of}` });
  return {
    scope: "tenantry",
    name,
    restapi: listen(restPort),
    etcd3: { hosts: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ...times,
        synchronous_mode: isSynchronous,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200 } },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }, { auth: "trust" }],
    },
    postgresql: {
      ...listen(port),
      data_dir: data,
      bin_dir: postgresPrograms,
      pgpass: join(folder, "pgpass"),
      authentication: { superuser: { username: "postgres" }, replication: { username: "postgres" } },
      pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
      parameters: {
        unix_socket_directories: folder,
        shared_buffers: "64MB",
        // Processes are killed, not the system: what is written stays.
        fsync: "off",
        dynamic_shared_memory_type: "mmap",
        max_wal_size: "512MB",
        log_min_messages: "warning",
        logging_collector: "off",
      },
    },
  };
}
