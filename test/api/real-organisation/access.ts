// Compares every access decision about a real organisation with the result of a plain walk over its file.
import { type Client, createClient } from "@connectrpc/connect";
import pLimit from "p-limit";
import { beforeAll, expect, test } from "vitest";
import { AccessService } from "../../../gen/iam/v1alpha/access_pb.ts";
import { importInto, total } from "../../cli/support/import-into.ts";
import { temporaryFile } from "../../cli/support/temporary-file.ts";
import { rounds } from "../../support/rounds.ts";
import { createTransport } from "../../support/transports.ts";
import { type DataSet, type ImportedOrganisation, readOrganisation } from "./imported-organisation.ts";

const org = "/orgs/kubernetes-sigs";
const rolesFromWeakToStrong = ["read", "triage", "write", "maintain", "admin"];
const strengthOf = (role: string): number => rolesFromWeakToStrong.indexOf(role);

/** In this file, lowercase turns the names of all members and projects into valid ones. */
function readFile(): DataSet {
  const toName = (original: string): string => original.toLowerCase();
  const file = readOrganisation("kubernetes-sigs");
  return {
    org: file.org,
    admins: file.admins.map(toName),
    members: file.members.map(toName),
    groups: file.groups.map(({ name, parent, maintainers, members }) => ({
      name: toName(name),
      parent: parent === null ? null : toName(parent),
      maintainers: maintainers.map(toName),
      members: members.map(toName),
    })),
    projects: file.projects.map(toName),
    grants: file.grants.map(({ group, project, role }) => ({ group: toName(group), project: toName(project), role })),
  };
}

const memberPath = (member: string): string => `${org}/members/${member}`;
const projectPath = (project: string): string => `${org}/projects/${project}`;

/** A member, a project, and the strongest role of the member there: its index from weak to strong, or -1 for none. */
interface Pair {
  readonly member: string;
  readonly project: string;
  readonly strength: number;
}

/** Returns all pairs, from a walk over the file for each member and project. */
function walk({ admins, members, groups, projects, grants }: DataSet): Pair[] {
  const groupsOf = (member: string): ReadonlySet<string> => {
    const reached = new Set<string>();
    for (const group of groups) {
      if (!group.maintainers.includes(member) && !group.members.includes(member)) continue;
      let name: string | null | undefined = group.name;
      while (typeof name === "string") {
        reached.add(name);
        const here: string = name;
        name = groups.find((other) => other.name === here)?.parent;
      }
    }
    return reached;
  };
  return [...admins, ...members].flatMap((member) => {
    const isAdmin = admins.includes(member);
    const reached = groupsOf(member);
    const held = grants.filter(({ group }) => reached.has(group));
    return projects.map((project) => {
      const strengths = held.filter((grant) => grant.project === project).map(({ role }) => strengthOf(role));
      return { member, project, strength: isAdmin ? strengthOf("admin") : Math.max(-1, ...strengths) };
    });
  });
}

let access: Client<typeof AccessService>;

const forEach = async <Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> => {
  await pLimit(4).map(items, run);
};

/** Returns a random tenth of some items; in `npm run soak`, all of them. */
function sampleOf<Item>(items: readonly Item[]): Item[] {
  const step = rounds(10, 1);
  const first = Math.floor(Math.random() * step);
  return items.filter((_, index) => index % step === first);
}

/** Checks each pair with each role, and returns those for which the walk has another result. */
async function checkAll(questions: readonly (Pair & { readonly role: string })[]): Promise<string[]> {
  const batches = Array.from({ length: Math.ceil(questions.length / 1_000) }, (_, index) =>
    questions.slice(index * 1_000, (index + 1) * 1_000),
  );
  const differences: string[] = [];
  await forEach(batches, async (batch) => {
    const { results } = await access.batchCheckAccess({
      checks: batch.map(({ member, project, role }) => ({
        subjectPath: memberPath(member),
        permission: `repos.access.${role}`,
        resourcePath: projectPath(project),
      })),
    });
    expect(results).toHaveLength(batch.length);
    for (const [index, { member, project, strength, role }] of batch.entries()) {
      const isAllowed = results[index]?.allowed;
      const shouldBe = strength >= strengthOf(role);
      if (isAllowed !== shouldBe) differences.push(`${role} ${project} by ${member}: ${isAllowed}, not ${shouldBe}`);
    }
  });
  return differences;
}

const inAllRoles = (pairs: readonly Pair[]) =>
  pairs.flatMap((pair) => rolesFromWeakToStrong.map((role) => ({ ...pair, role })));

type ReadPage = (page: { pageSize: number; pageToken: string }) => Promise<{ paths: string[]; nextPageToken: string }>;

/** Returns all pages of a list; many of the lists here have several. */
async function listAll(readPage: ReadPage): Promise<string[]> {
  const all: string[] = [];
  let pageToken = "";
  do {
    const page = await readPage({ pageSize: 9, pageToken });
    all.push(...page.paths);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return all.toSorted();
}

/** Compares the listed subjects of each project with the walk. */
async function expectSubjects(pairs: readonly Pair[]): Promise<void> {
  await forEach(sampleOf([...Map.groupBy(pairs, ({ project }) => project)]), async ([project, ofProject]) => {
    for (const role of rolesFromWeakToStrong) {
      const question = { permission: `repos.access.${role}`, resourcePath: projectPath(project) };
      const listed = await listAll(async (page) => {
        const { subjectPaths: paths, nextPageToken } = await access.listSubjects({ ...question, ...page });
        return { paths, nextPageToken };
      });
      const expected = ofProject.filter(({ strength }) => strength >= strengthOf(role));
      expect(listed, `who may ${role} ${project}`).toEqual(expected.map(({ member }) => memberPath(member)).toSorted());
    }
  });
}

/** Compares the listed projects of each member with the walk. */
async function expectResources(pairs: readonly Pair[]): Promise<void> {
  await forEach(sampleOf([...Map.groupBy(pairs, ({ member }) => member)]), async ([member, ofMember]) => {
    for (const role of rolesFromWeakToStrong) {
      const question = { subjectPath: memberPath(member), permission: `repos.access.${role}`, parentPath: org };
      const listed = await listAll(async (page) => {
        const { resourcePaths: paths, nextPageToken } = await access.listResources({ ...question, ...page });
        return { paths, nextPageToken };
      });
      const expected = ofMember.filter(({ strength }) => strength >= strengthOf(role));
      const paths = expected.map(({ project }) => projectPath(project)).toSorted();
      expect(listed, `what ${member} may ${role}`).toEqual(paths);
    }
  });
}

export function testAccess(imported: () => ImportedOrganisation): void {
  beforeAll(() => {
    const { server } = imported();
    access = createClient(AccessService, createTransport("Connect", server.url, server.operatorKey));
  });

  test("every member has the access to every project that the file gives, and no other", async () => {
    const pairs = walk(readFile());
    expect(pairs).toHaveLength(rounds(368 * 99, 1_144 * 202));
    expect(await checkAll(sampleOf(pairs).map((pair) => ({ ...pair, role: "read" })))).toEqual([]);
    const someMay = pairs.filter(({ strength }) => strength >= 0);
    expect(someMay.length).toBeGreaterThan(rounds(1_200, 2_500));
    expect(await checkAll(inAllRoles(someMay))).toEqual([]);
  });

  test("ListSubjects returns the members with access to a project", async () => {
    await expectSubjects(walk(readFile()));
  });

  test("ListResources returns the projects that a member has access to", async () => {
    await expectResources(walk(readFile()));
  });

  // In that file, no group with nested groups has access.
  test("access of a group extends to the members of the groups nested in it", async () => {
    const file = readFile();
    const parents = new Set(file.groups.flatMap(({ parent }) => (parent === null ? [] : [parent])));
    const added = Array.from(parents, (group, index) => ({
      group,
      project: file.projects[index] ?? "",
      role: rolesFromWeakToStrong[index % 5] ?? "",
    }));
    const extended = { ...file, grants: [...file.grants, ...added] };
    const outcome = await importInto(imported().server, await temporaryFile("extended.json", JSON.stringify(extended)));
    expect(total(outcome)).toMatchObject({ created: added.length, missing: 0 });

    const [before, after] = [walk(file), walk(extended)];
    const changed = after.filter(({ strength }, index) => strength !== before[index]?.strength);
    expect(changed.length).toBeGreaterThan(10);
    expect(await checkAll(inAllRoles(changed))).toEqual([]);
    await expectSubjects(after);
  });
}
