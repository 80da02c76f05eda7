import { describe, expect, test } from "vitest";
import { readOrganisationFile } from "../../../src/cli/file/read-organisation-file.ts";
import { temporaryDirectory, temporaryFile } from "../support/temporary-file.ts";

async function problemOf(name: string, content: string | Uint8Array): Promise<string> {
  const file = await temporaryFile(name, content);
  const error: unknown = await readOrganisationFile(file).then(
    () => new Error("it was read"),
    (thrown: unknown) => thrown,
  );
  const { message, cause } = error as Error;
  return `${message.replace(file, name)}${cause instanceof Error ? ` | ${cause.message}` : ""}`;
}

const bytes = (...values: (number | string)[]): Uint8Array =>
  Buffer.concat(values.map((value) => (typeof value === "string" ? Buffer.from(value) : Buffer.of(value))));

describe("reads", () => {
  test.each([
    ["org.json", '{"org": "acme", "members": ["alice"]}'],
    ["org.yaml", "org: acme\nmembers: [alice]"],
    ["org.yml", '{"org": acme, "members": [alice]}'],
    ["org", '\n {"org": "acme", "members": ["alice"]}'],
    ["org.txt", "# by its content\norg: acme\nmembers:\n- alice\n"],
    ["with-bom.json", '\uFEFF{"org": "acme", "members": ["alice"]}'],
    ["with-bom.yaml", "\uFEFForg: acme\nmembers: [alice]"],
  ])("%s", async (name, content) => {
    const { org, members } = await readOrganisationFile(await temporaryFile(name, content));
    expect([org.name, members.map((member) => member.name)]).toEqual(["acme", ["alice"]]);
  });

  test("aliases", async () => {
    const file = "org: acme\nmembers: &all [alice, bob]\ngroups: [{name: everybody, members: *all}]";
    const { groups } = await readOrganisationFile(await temporaryFile("org.yaml", file));
    expect(groups[0]?.members).toEqual(["alice", "bob"]);
  });
});

describe("rejects", () => {
  test.each<[what: string, name: string, content: string | Uint8Array, problem: RegExp]>([
    ["broken JSON", "org.json", '{"org": "acme",}', /^org\.json is not valid JSON \| .*position 15/],
    ["broken YAML", "org.yaml", "org: [acme", /^org\.yaml is not valid YAML \| .*line 1, column 11/s],
    ["two documents", "org.yaml", "org: a\n---\norg: b", /multiple documents/],
    [
      "a duplicate key in JSON",
      "org.json",
      '{"org": "a", "org": "b"}',
      /the file gives the key "org" twice at character 13$/,
    ],
    [
      "deep nesting in JSON",
      "org.json",
      "[".repeat(100_000),
      /^org\.json is not valid JSON \| the file nests deeper than 32/,
    ],
    ["a duplicate key", "org.yaml", "org: a\norg: b", /Map keys must be unique/],
    ["a name like a number", "org.yaml", "org: 007", /org: must be a string, got number; write "007"$/],
    ["names like numbers", "org.yaml", "org: a\nmembers: [0x1F, 1.0]", /write "0x1F".*write "1\.0"/s],
    ["a name like a boolean", "org.yaml", "org: TRUE", /org: must be a string, got boolean; write "TRUE"$/],
    ["an unknown tag", "org.yaml", "org: !secret a", /Unresolved tag/],
    ["UTF-16", "org.json", bytes(0xff, 0xfe, "{"), /is written in UTF-16; save it as UTF-8/],
    ["other bytes", "org.yaml", bytes("org: a\n# ", 0xe9, "\n"), /is not UTF-8: line 2 contains invalid bytes/],
    ["an empty file", "org.yaml", "", /the content must be an object, got null/],
    ["a list", "org.json", "[]", /the content must be an object, got list/],
    ["deep nesting", "org.yaml", "[".repeat(100_000), /^org\.yaml is not valid YAML/],
  ])("%s", async (_what, name, content, problem) => {
    expect(await problemOf(name, content)).toMatch(problem);
  });

  test("aliases that expand a file enormously", async () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const item = level === 0 ? '"x"' : `*a${level - 1}`;
      return `a${level}: &a${level} [${Array.from({ length: 10 }, () => item).join(", ")}]`;
    });
    expect(await problemOf("bomb.yaml", levels.join("\n"))).toMatch(/Excessive alias count/);
  });

  test("a file of more than 64 MiB", async () => {
    expect(await problemOf("org.json", new Uint8Array(64 * 1_048_576 + 1))).toMatch(/is larger than 64 MiB/);
  });

  test("a directory, and a missing file", async () => {
    const directory = await temporaryDirectory();
    await expect(readOrganisationFile(directory)).rejects.toThrow(`${directory} is a directory`);
    await expect(readOrganisationFile(`${directory}/no.yaml`)).rejects.toThrow(`there is no file ${directory}/no.yaml`);
  });
});
