import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PageRequest, listPage } from "../../src/standard-methods/read/list-page.ts";
import { type Cursor, createPageTokens } from "../../src/standard-methods/read/page-token.ts";
import { rejectionOf } from "../paths/service-failure.ts";

const tokens = createPageTokens(randomBytes(32));
const binding = ["Org", "", "false"];
const key = (row: number): string => String(row).padStart(6, "0");

/** Lists a table of numbers, and records the limits of the calls. */
function createList(rows: () => readonly number[]) {
  const limits: number[] = [];
  const read = (after: Cursor | undefined, limit: number): Promise<number[]> => {
    limits.push(limit);
    const [last = ""] = after ?? [];
    const found = rows().filter((row) => after === undefined || key(row) > last);
    return Promise.resolve(found.toSorted((one, other) => one - other).slice(0, limit));
  };
  const list = (request: Partial<PageRequest>) =>
    listPage(tokens, { pageSize: 0, pageToken: "", ...request }, binding, read, (row) => [key(row)]);
  return { list, limits };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("a page", () => {
  test("has 50 rows if its size is not given", async () => {
    const { rows, nextPageToken } = await createList(() => upTo(60)).list({});
    expect(rows).toEqual(upTo(50));
    expect(nextPageToken).not.toBe("");
  });

  test("has at most 1000 rows, also for a larger page size", async () => {
    const { list, limits } = createList(() => upTo(1200));
    expect((await list({ pageSize: 2_147_483_647 })).rows).toEqual(upTo(1000));
    expect(limits).toEqual([1001]);
  });

  test.each([
    { size: 3, count: 0, pages: [[]] },
    { size: 3, count: 2, pages: [[0, 1]] },
    { size: 3, count: 3, pages: [[0, 1, 2]] },
    { size: 3, count: 4, pages: [[0, 1, 2], [3]] },
    {
      size: 3,
      count: 6,
      pages: [
        [0, 1, 2],
        [3, 4, 5],
      ],
    },
    { size: 1, count: 2, pages: [[0], [1]] },
  ])("of $size is full until the last one, after which there is none: $count rows", async ({ size, count, pages }) => {
    const { list } = createList(() => upTo(count));
    expect((await readPages(list, () => size)).pages).toEqual(pages);
  });

  test("can have another size than the previous one", async () => {
    const { list } = createList(() => upTo(7));
    const { pages } = await readPages(list, (page) => page + 1);
    expect(pages).toEqual([[0], [1, 2], [3, 4, 5], [6]]);
  });

  test("is refused for a token of another list", async () => {
    const { list } = createList(() => upTo(7));
    const pageToken = tokens.encode([key(3)], ["Org", "", "true"]);
    expect((await rejectionOf(list({ pageToken }))).reason).toBe("PAGE_TOKEN_INVALID");
  });
});

/** What happens to the table between two pages. */
const writes = fc.array(fc.record({ row: fc.nat(60), kind: fc.constantFrom("insert", "delete") }), { maxLength: 8 });

test("a row that exists throughout is on exactly one page, and no row is on two, with any writes between the pages", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.nat(60), { maxLength: 40 }),
      fc.array(writes, { maxLength: 30 }),
      fc.integer({ min: 1, max: 7 }),
      async (start, rounds, size) => {
        const table = new Set(start);
        const stayed = new Set(start);
        const everThere = new Set(start);
        const { list } = createList(() => [...table]);
        const { pages } = await readPages(list, (page) => {
          for (const { row, kind } of page === 0 ? [] : (rounds[page - 1] ?? [])) {
            if (kind === "insert") table.add(row);
            else table.delete(row);
            if (kind === "insert") everThere.add(row);
            else stayed.delete(row);
          }
          return size;
        });
        const listed = pages.flat();
        expect(new Set(listed).size).toBe(listed.length);
        expect(listed).toEqual(listed.toSorted((one, other) => one - other));
        expect([...stayed].filter((row) => !listed.includes(row))).toEqual([]);
        expect(listed.filter((row) => !everThere.has(row))).toEqual([]);
      },
    ),
  );
});

/** Follows the page tokens to the end. `sizeOf` is called before each page. */
async function readPages(list: ReturnType<typeof createList>["list"], sizeOf: (page: number) => number) {
  const pages: (readonly number[])[] = [];
  let pageToken = "";
  do {
    const page = await list({ pageSize: sizeOf(pages.length), pageToken });
    pages.push(page.rows);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return { pages };
}
