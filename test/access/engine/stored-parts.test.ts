// Tests that the parts of a snapshot are all of it: that a copy has everything that the original has.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../../src/access/engine/decisions/decide.ts";
import { applyEntry } from "../../../src/access/engine/loading/apply-entry.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../../src/access/engine/org-snapshot.ts";
import type { SharedArrays } from "../../../src/access/engine/tables/stored-part.ts";
import { formatVersion } from "../../../src/access/snapshots/files/fingerprint.ts";
import { type Draw, arbitraryNoise, createDraw } from "../../rest/fuzz/draw.ts";
import { fuzzParameters, fuzzTimeout } from "../../support/fuzz-parameters.ts";
import { compareVariables } from "./compare-variables.ts";
import { type SnapshotCopy, fromCopy, leftOut, takeCopy } from "./copy-snapshot.ts";
import { type ChangeMaker, createChangeMaker, emptyRows } from "./draw-changes.ts";
import { type ModelRows, compileCondition, predefinedRoles } from "./naive-model.ts";

const parameters = fuzzParameters(1);
const options = { predefinedRoles, compileCondition };

function createDrawn(draw: Draw, rows: ModelRows, maker: ChangeMaker): OrgSnapshot {
  const snapshot = createOrgSnapshot({ ...options, org: rows.org });
  change(draw, snapshot, maker, 80 + draw(80));
  decideSomething(snapshot, rows);
  return snapshot;
}

function change(draw: Draw, snapshot: OrgSnapshot, maker: ChangeMaker, count: number): void {
  for (let left = count; left > 0; left--) {
    const drawn = maker.next(draw);
    // The sweep is limited, so that references to removed entities are left.
    if (drawn !== undefined) applyEntry(snapshot, drawn, draw(3));
    if (draw(8) === 1) endTokens(draw, snapshot);
  }
  snapshot.advanceTo(snapshot.revision);
}

function endTokens(draw: Draw, { tokens }: OrgSnapshot): void {
  const id = `token-${draw(20)}`;
  if (draw(3) === 0) tokens.putGen(id, draw(3) === 0 ? null : `gen-${draw(9)}`);
  else if (draw(2) === 0) tokens.end(id, "Session", draw(100_000_000));
  else tokens.end(id, "Rotation", draw(3) === 0 ? Infinity : draw(100_000_000));
}

/** Leaves what decisions leave behind. */
function decideSomething(snapshot: OrgSnapshot, rows: ModelRows): void {
  const resource = { kind: "org", customerId: rows.org.customer_id, orgId: rows.org.id } as const;
  for (const { id } of rows.members) {
    const subject = { kind: "member", id } as const;
    const context = { resource, subject: id };
    decide(snapshot, {
      subject,
      permission: "iam.members.get",
      resource,
      now: 5,
      conditionContext: context,
      counted: "all",
    });
  }
}

const each = (run: (draw: Draw, rows: ModelRows, maker: ChangeMaker) => void, more: object = parameters): void =>
  fc.assert(
    fc.property(fc.noBias(arbitraryNoise(3000)), (noise) => {
      const rows = emptyRows();
      run(createDraw(noise), rows, createChangeMaker(rows));
    }),
    { ...more, endOnFailure: true },
  );

test("a copy has every variable of the original", { timeout: fuzzTimeout(parameters) }, () => {
  const variables = new Set<string>();
  each((draw, rows, maker) => {
    const snapshot = createDrawn(draw, rows, maker);
    const copy = fromCopy(takeCopy(snapshot), options);
    const compared = compareVariables(snapshot, copy, leftOut);
    expect(compared.differences).toEqual([]);
    for (const variable of compared.variables) variables.add(variable);
  });
  // What the debugger does not show would be compared with nothing.
  const some = ["IntRecords.free", "TextStore.free", "HashIndex.mask", "Sweeper.retired", "TokenTable.latest"];
  for (const name of some) expect(variables).toContain(`create${name}`);
});

test("a variable that no part has is a difference", () => {
  const run = (draw: Draw, rows: ModelRows, maker: ChangeMaker): void => {
    const snapshot = createDrawn(draw, rows, maker);
    snapshot.tokens.putGen("token", "gen");
    const copy = takeCopy(snapshot);
    const contents = copy.contents.map((content) => ("rows" in content ? { rows: [] } : content));
    const { differences } = compareVariables(snapshot, fromCopy({ ...copy, contents }, options), leftOut);
    expect(differences.join("\n")).toContain("createTokenTable.gens");
  };
  each(run, { numRuns: 1 });
});

test("what is shared stays as it is while the snapshot changes", { timeout: fuzzTimeout(parameters) }, () => {
  each((draw, rows, maker) => {
    const snapshot = createDrawn(draw, rows, maker);
    const copy = takeCopy(snapshot);
    const shared = new Map<number, SharedArrays>();
    for (const [index, part] of snapshot.parts().entries()) {
      if (part.kind === "arrays") shared.set(index, part.share());
    }
    change(draw, snapshot, maker, 40);
    decideSomething(snapshot, rows);
    const contents = copy.contents.map((content, index) => {
      const { release, ...state } = shared.get(index) ?? { release: () => {} };
      release();
      return { ...content, ...state };
    });
    const [before, later] = [copy, { ...copy, contents }].map((taken) => fromCopy(taken, options));
    expect(compareVariables(before as OrgSnapshot, later as OrgSnapshot, leftOut).differences).toEqual([]);
    // And the snapshot itself has not been harmed by the copies that it made.
    const again = fromCopy(takeCopy(snapshot), options);
    expect(compareVariables(snapshot, again, leftOut).differences).toEqual([]);
  });
});

/** Returns a hash of a copy that does not depend on the version of Node.js. */
function hashOf({ contents }: SnapshotCopy): string {
  const text = JSON.stringify(contents, (_, value: unknown) =>
    ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value,
  );
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

// If the hash is another one, files that were written before mean something else now: raise the version with it.
test("the same rows and changes give the same copy, as long as the format has this version", () => {
  const rows = emptyRows();
  const noise = Array.from({ length: 3000 }, (_, index) => Math.imul(index + 1, 0x9e3779b1) >>> 0);
  const snapshot = createDrawn(createDraw(noise), rows, createChangeMaker(rows));
  expect({ version: formatVersion, hash: hashOf(takeCopy(snapshot)) }).toEqual({
    version: 2,
    hash: "78dd6bc0238ca258",
  });
});
