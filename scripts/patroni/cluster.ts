// Three nodes of PostgreSQL under Patroni, which agree by etcd on which one is the primary.
import { join } from "node:path";
import { askDatabase } from "../chaos/ask-database.ts";
import { type Workplace, freePorts, makeFolder } from "../chaos/processes.ts";
import { waitUntil } from "../chaos/wait-until.ts";
import { type Node, createNode } from "./node.ts";

export interface Cluster {
  /** Names all nodes. */
  readonly databaseUrl: string;
  /** The URL of the primary alone. */
  primaryUrl(): Promise<string>;
  primary(): Promise<Node>;
  /** Waits until another node is the primary, as Patroni says. */
  untilPrimaryIsNot(former: Node): Promise<void>;
  /** Asks Patroni to make another node the primary, as `patronictl switchover` does. */
  switchOver(): Promise<void>;
  /** Waits until all nodes run and follow one primary, with a synchronous standby if there is to be one. */
  untilWell(): Promise<void>;
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

const database = "tenantry";

export async function startCluster(workplace: Workplace, isSynchronous: boolean): Promise<Cluster> {
  const names = ["a", "b", "c"];
  const [etcdPort = 0, peerPort = 0, ...ports] = await freePorts(2 + 2 * names.length);
  startEtcd(workplace, etcdPort, peerPort);
  const nodes = names.map((name, index) => {
    const [port = 0, restPort = 0] = ports.slice(2 * index);
    return createNode(workplace, { name, port, restPort, etcdPort, isSynchronous });
  });

  /** Asks any node that answers. All say what etcd has. */
  const members = async (): Promise<readonly Member[]> => {
    const asked = nodes.map(async ({ restPort }) => {
      const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(2_000) });
      return ((await response.json()) as { members: Member[] }).members;
    });
    return Promise.any(asked);
  };
  const findPrimary = async (): Promise<Node | undefined> => {
    const leader = (await members()).find(({ role, state }) => role === "leader" && state === "running");
    return nodes.find(({ name }) => name === leader?.name);
  };
  const primary = async (): Promise<Node> => {
    const found = await findPrimary();
    if (found === undefined) throw new Error("Patroni knows no primary");
    return found;
  };
  const isWell = async (): Promise<boolean> => {
    const all = await members();
    const isFollowing = ({ role, state }: Member): boolean =>
      role === "leader" ? state === "running" : ["running", "streaming"].includes(state);
    return (
      all.length === nodes.length &&
      all.every(isFollowing) &&
      all.filter(({ role }) => role === "leader").length === 1 &&
      new Set(all.map(({ timeline }) => timeline)).size === 1 &&
      (!isSynchronous || all.some(({ role }) => role === "sync_standby"))
    );
  };
  const urlOf = ({ port }: Node, of = database): string => `postgres://postgres@127.0.0.1:${port}/${of}`;

  const [first, ...others] = nodes;
  first?.start();
  await waitUntil("there is a primary", async () => (await findPrimary()) !== undefined, 120_000);
  for (const node of others) node.start();
  await waitUntil("all nodes follow the primary", isWell, 120_000);
  await askDatabase(urlOf(await primary(), "postgres"), `create database ${database}`);
  return {
    databaseUrl: `postgres://postgres@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${database}`,
    primary,
    primaryUrl: async () => urlOf(await primary()),
    untilPrimaryIsNot: (former) =>
      waitUntil(`another primary than ${former.name}`, async () => {
        const found = await findPrimary();
        return found !== undefined && found.name !== former.name;
      }),
    async switchOver() {
      const { name, restPort } = await primary();
      const response = await fetch(`http://127.0.0.1:${restPort}/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader: name }),
        signal: AbortSignal.timeout(60_000),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`Patroni does not switch over: ${text}`);
    },
    untilWell: () => waitUntil("all nodes follow the primary", isWell, 120_000),
  };
}

function startEtcd(workplace: Workplace, port: number, peerPort: number): void {
  const urls = { client: `http://127.0.0.1:${port}`, peer: `http://127.0.0.1:${peerPort}` };
  const args = {
    name: "etcd",
    "data-dir": makeFolder(join(workplace.directory, "etcd"), undefined),
    "initial-cluster": `etcd=${urls.peer}`,
    "listen-client-urls": urls.client,
    "advertise-client-urls": urls.client,
    "listen-peer-urls": urls.peer,
    "initial-advertise-peer-urls": urls.peer,
  };
  workplace.start(
    "etcd",
    "etcd",
    Object.entries(args).map(([name, value]) => `--${name}=${value}`),
  );
}
