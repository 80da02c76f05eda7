import { expect, test } from "vitest";
import { withNames } from "../../console/src/ui/many/with-names.ts";

const rows = [
  { id: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b", path: "/orgs/acme/members/alice", name: "Alice Liddell" },
  { id: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4c", path: "/orgs/acme/members/bob", name: "Bob" },
];

const inWords = (text: string): string =>
  withNames(
    text,
    rows,
    ({ id }) => id,
    ({ name }) => name,
  );

test.each([
  [`there is no member /orgs/acme/members/@${rows[0]?.id}`, "there is no member Alice Liddell"],
  [`/orgs/@${rows[1]?.id}/members/@${rows[1]?.id}, /orgs/a/members/@${rows[0]?.id}: no`, "Bob, Alice Liddell: no"],
  ["/orgs/acme/members/@01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4d is not shown", undefined],
  ["/orgs/acme/members/alice: Somebody has changed it", "Alice Liddell: Somebody has changed it"],
  ["/orgs/acme/members/bobby has a name", undefined],
])("what the service says of rows has their names: %s", (text, said = text) => {
  expect(inWords(text)).toBe(said);
});
