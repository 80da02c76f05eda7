// Benchmarks the file of a snapshot in process: writing it, and loading it again. Run with `node bench/snapshot-files.ts` or
// `node bench/snapshot-files.ts --members 100000 --rounds 3`. Each member is in two groups; there is a group for every 20 members, and a
// project with a role binding for every ten. `npm run bench:restart` measures the same from outside.
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import pino from "pino";
import { loadRows } from "../src/access/engine/loading/load-rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../src/access/engine/org-snapshot.ts";
import { createSnapshotFiles } from "../src/access/snapshots/files/snapshot-files.ts";
import { createSealer } from "../src/identity/sealer.ts";
import { median } from "./figures.ts";

const { values } = parseArgs({
  options: { members: { type: "string", default: "1000000" }, rounds: { type: "string", default: "5" } },
});
const members = Number(values.members);
const rounds = Number(values.rounds);

interface Sample {
  readonly ms: number;
  /** The time of the processor, on all threads. */
  readonly cpuMs: number;
  /** How long other work on the event loop waited at most. */
  readonly longestMs: number;
}

const engine = {
  predefinedRoles: { viewer: { permissions: ["iam.members.get"] } },
  compileCondition: () => () => true,
};
const directory = await mkdtemp(join(tmpdir(), "tenantry-bench-"));
try {
  const snapshot = build();
  const files = createSnapshotFiles({
    ...engine,
    directory,
    maxBytes: Infinity,
    sealer: createSealer([randomBytes(32)]),
    version: "",
    migrations: [],
    installation: "",
    logger: pino({ level: "warn" }),
  });
  const saving: Sample[] = [];
  const loading: Sample[] = [];
  for (let round = 0; round < rounds; round++) {
    saving.push(await measure(() => files.save(snapshot)));
    loading.push(await measure(() => files.load(snapshot.org.id)));
  }
  const [file = ""] = await readdir(directory);
  const { size } = await stat(join(directory, file));
  console.log(
    `${members} members, a file of ${(size / 1e6).toFixed(1)} MB; the first time, and the median of ${rounds}`,
  );
  describe("saving", saving);
  describe("loading", loading);
} finally {
  await rm(directory, { recursive: true });
}

function build(): OrgSnapshot {
  const groups = Math.ceil(members / 20);
  const projects = Math.ceil(members / 10);
  const idOf = (kind: number, index: number): string => {
    const scattered = (Math.imul(index + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
    return `${scattered}-0000-7000-8000-${String(kind).padStart(4, "0")}${index.toString(16).padStart(8, "0")}`;
  };
  const state = { state: "ACTIVE", delete_time: null } as const;
  const many = <Row>(count: number, row: (index: number) => Row): Iterable<Row> =>
    (function* rows() {
      for (let index = 0; index < count; index++) yield row(index);
    })();
  const org = { id: idOf(0, 0), name: "acme", customer_id: idOf(0, 1), ...state, revision: idOf(0, 2) };
  const snapshot = createOrgSnapshot({ ...engine, org });
  loadRows(snapshot, {
    members: many(members, (index) => ({ id: idOf(1, index), name: `member-${index}`, ...state })),
    groups: many(groups, (index) => ({ id: idOf(2, index), name: `group-${index}` })),
    projects: many(projects, (index) => ({ id: idOf(3, index), name: `project-${index}`, ...state })),
    group_members: many(members * 2, (index) => {
      const member = index >> 1;
      const group = ((index & 1) === 0 ? member : member * 31 + 1) % groups;
      return { group_id: idOf(2, group), member_id: idOf(1, member), expire_time: null };
    }),
    role_bindings: many(projects, (index) => ({
      id: idOf(4, index),
      scope_type: "project",
      scope_id: idOf(3, index),
      subject_type: "group",
      subject_id: idOf(2, index % groups),
      role_id: null,
      predefined_role: "viewer",
      start_time: null,
      expire_time: null,
      condition: "",
    })),
  });
  return snapshot;
}

async function measure(run: () => Promise<unknown>): Promise<Sample> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  await run();
  const [ms, { user, system }] = [performance.now() - startedAt, process.cpuUsage(before)];
  delay.disable();
  return { ms, cpuMs: (user + system) / 1000, longestMs: delay.max / 1e6 };
}

function describe(name: string, samples: readonly Sample[]): void {
  const of = (key: keyof Sample): string =>
    `${samples[0]?.[key].toFixed(0)} ${median(samples.map((sample) => sample[key])).toFixed(0)}`;
  console.log(`${name.padEnd(8)} ms: ${of("ms")}; of the processor: ${of("cpuMs")}; longest turn: ${of("longestMs")}`);
}
