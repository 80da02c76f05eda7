import { expect, test } from "vitest";
import { findNarrowScopeProblem, findScopeProblem } from "../../../src/identity/tokens/scopes.ts";

const withoutAny = "a key without scopes has all";

test.each([
  [["iam.members.get", "iam.members.*", "iam.*"], undefined, undefined],
  [["*"], undefined, `must name areas, collections or permissions; ${withoutAny}`],
  [
    ["iam.*", "iam.members"],
    'must be <area>.<collection>.<verb>, <area>.<collection>.*, <area>.* or *, got "iam.members"',
    'must be <area>.<collection>.<verb>, <area>.<collection>.* or <area>.*, got "iam.members"',
  ],
])("the error for scopes names only what is accepted, of a token and of a key: %j", (scopes, ofToken, ofKey) => {
  expect([findScopeProblem(scopes), findNarrowScopeProblem(scopes, withoutAny)]).toEqual([ofToken, ofKey]);
});
