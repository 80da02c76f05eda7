import { describe, expect, test } from "vitest";
import { makeUpName } from "../../../src/org-files/names/made-up-names.ts";
import { type Sibling, resolveNames } from "../../../src/cli/plan/resolve-names.ts";

/** Resolves originals among existing members, and returns the names, or what is refused. */
function resolve(originals: readonly string[], existing: Readonly<Record<string, string>>): unknown {
  const siblings = Object.entries(existing).map(([name, displayName]): Sibling => ({ name, displayName }));
  const refused: string[] = [];
  const names = resolveNames("member", originals, siblings, (original, problem) =>
    refused.push(`${original} ${problem.split(";")[0]}`),
  );
  return refused.length > 0 ? refused : [...names.values()];
}

const zoe = makeUpName("Zoë");

describe("an original resolves to", () => {
  test.each<[what: string, originals: string[], existing: Record<string, string>, names: string[]]>([
    ["its own name if that is valid, whatever it displays", ["Alice", "bob"], { alice: "Zoë" }, ["alice", "bob"]],
    ["a made-up name", ["Zoë"], { zoe: "Zoe" }, [zoe]],
    ["a made-up name that exists, whatever resembles the original", ["Zoë"], { [zoe]: "Z.", zo: "Zoë" }, [zoe]],
    ["the account of an earlier version", ["Zoë"], { zo: "ZOE\u0308", other: "Zoë" }, ["zo"]],
    ["that with a hash, too", ["Zoë"], { "zo-aef50168": "Zoë" }, ["zo-aef50168"]],
    ["a made-up name if the file names the one that resembles it", ["Zoë", "zo"], { zo: "zo" }, [zoe, "zo"]],
  ])("%s", (_what, originals, existing, names) => {
    expect(resolve(originals, existing)).toEqual(names);
  });
});

describe("an original is refused if", () => {
  test.each<[what: string, originals: string[], existing: Record<string, string>, problem: string]>([
    ["another may have its former name", ["Zoë"], { zo: "Zoé" }, 'Zoë may be the member zo (display name "Zoé"), or'],
    ["another has its display name", ["Zoë"], { z: "zoë" }, 'Zoë may be the member z (display name "zoë"), or another'],
    [
      "two are from earlier versions",
      ["Zoë"],
      { zo: "Zoë", "zo-aef50168": "Zoë" },
      'Zoë may be the member zo (display name "Zoë") or the member zo-aef50168 (display name "Zoë"), or another one',
    ],
    ["the file names the made-up one", [zoe, "Zoë"], {}, `Zoë would be the member ${zoe}, as "${zoe}" would`],
    ["the file names its former account", ["zo", "Zoë"], { zo: "Zoë" }, 'Zoë would be the member zo, as "zo" would'],
  ])("%s", (_what, originals, existing, problem) => {
    expect(resolve(originals, existing)).toEqual([expect.stringContaining(problem)]);
  });
});
