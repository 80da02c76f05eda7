// Lists a real organisation page by page with random filters, and checks that the lists are complete and exact.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Api, createApi } from "../../support/api.ts";
import { rounds } from "../../support/rounds.ts";
import type { ImportedOrganisation } from "./imported-organisation.ts";

interface Item {
  readonly path: string;
  readonly name: string;
  readonly displayName: string;
  readonly description?: string;
}

type Lister = (query: { filter: string; orderBy: string; pageSize: number; pageToken: string }) => Promise<{
  readonly items: readonly Item[];
  readonly nextPageToken: string;
}>;

const org = "orgs/kubernetes-sigs";

function listersOf(api: Api): Record<string, Lister> {
  return {
    members: async (query) => {
      const { members, nextPageToken } = await api.members.listMembers({ parentPath: org, ...query });
      return { items: members, nextPageToken };
    },
    projects: async (query) => {
      const { projects, nextPageToken } = await api.projects.listProjects({ parentPath: org, ...query });
      return { items: projects, nextPageToken };
    },
    "members of all groups": async (query) => {
      const parentPath = `${org}/groups/-`;
      const { members, nextPageToken } = await api.groupMembers.listGroupMembers({ parentPath, ...query });
      return { items: members, nextPageToken };
    },
  };
}

/** A filter, and the same condition in code. */
interface Filter {
  readonly text: string;
  readonly keeps: (item: Item) => boolean;
}

const letters = fc.string({
  unit: fc.constantFrom("a", "b", "c", "d", "e", "i", "k", "n", "o", "r", "s", "t", "u", "-"),
  minLength: 1,
  maxLength: 3,
});

const atom: fc.Arbitrary<Filter> = fc.oneof(
  letters.map((start) => ({ text: `name = "${start}*"`, keeps: ({ name }: Item) => name.startsWith(start) })),
  letters.map((end) => ({ text: `name != "*${end}"`, keeps: ({ name }: Item) => !name.endsWith(end) })),
  letters.map((part) => ({ text: `name:"${part}"`, keeps: ({ name }: Item) => name.includes(part) })),
  letters.map((least) => ({ text: `name >= "${least}"`, keeps: ({ name }: Item) => name >= least })),
  letters.map((part) => ({ text: `path:"${part}"`, keeps: ({ path }: Item) => path.includes(part) })),
  letters.map((part) => ({
    text: `display_name:"${part}"`,
    keeps: ({ displayName }: Item) => displayName.toLowerCase().includes(part),
  })),
);

const { filter: filters } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    { weight: 2, arbitrary: atom },
    {
      weight: 1,
      arbitrary: tie("filter").map(({ text, keeps }) => ({
        text: `NOT (${text})`,
        keeps: (item: Item) => !keeps(item),
      })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(tie("filter"), tie("filter")).map(([one, other]) => ({
        text: `(${one.text}) AND (${other.text})`,
        keeps: (item: Item) => one.keeps(item) && other.keeps(item),
      })),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(tie("filter"), tie("filter")).map(([one, other]) => ({
        text: `(${one.text}) OR (${other.text})`,
        keeps: (item: Item) => one.keeps(item) || other.keeps(item),
      })),
    },
  ),
}));

async function listAll(list: Lister, filter: string, orderBy: string, pageSize: number): Promise<string[]> {
  const paths: string[] = [];
  let pageToken = "";
  do {
    const page = await list({ filter, orderBy, pageSize, pageToken });
    expect(page.items.length).toBeLessThanOrEqual(pageSize);
    paths.push(...page.items.map(({ path }) => path));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return paths;
}

export function testLists(imported: () => ImportedOrganisation): void {
  test.each(["members", "projects", "members of all groups"])(
    "lists %s completely and exactly, at any page size, under any filter",
    async (what) => {
      const { server } = imported();
      const list = listersOf(createApi("REST", server.url, server.operatorKey))[what];
      if (list === undefined) throw new Error(`there is no list of ${what}`);
      const all: Item[] = [];
      let pageToken = "";
      do {
        const page = await list({ filter: "", orderBy: "", pageSize: 1000, pageToken });
        all.push(...page.items);
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(all.length).toBeGreaterThan(rounds(90, 200));
      // With pages of one row, a list of thousands takes thousands of calls.
      const small = rounds(29, 1);
      for (const pageSize of [small, 60])
        expect(await listAll(list, "", "", pageSize)).toEqual(all.map(({ path }) => path));

      const orders = ["", "update_time", "create_time desc"];
      await fc.assert(
        fc.asyncProperty(
          filters,
          fc.constantFrom(...orders),
          fc.constantFrom(small, 1000),
          async ({ text, keeps }, orderBy, pageSize) => {
            const listed = await listAll(list, text, orderBy, pageSize);
            const expected = all.filter(keeps).map(({ path }) => path);
            // Both lists are in the default order.
            if (orderBy === "") expect(listed).toEqual(expected);
            else expect(listed.toSorted()).toEqual(expected.toSorted());
          },
        ),
        { numRuns: rounds(3, 600) },
      );
    },
  );
}
