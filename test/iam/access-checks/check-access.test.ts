import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CheckAccessRequestSchema } from "../../../gen/iam/v1alpha/access_pb.ts";
import { createCheckAccessOfAll } from "../../../src/iam/access-checks/check-access.ts";
import type { AccessDependencies } from "../../../src/iam/access-checks/dependencies.ts";

const requests = Array.from({ length: 100 }, (_, index) =>
  create(CheckAccessRequestSchema, {
    subjectPath: `/orgs/acme/members/m-${index}`,
    permission: "iam.orgs.get",
    resourcePath: "/orgs/acme",
  }),
);

test("a batch of checks can wait for a turn between any two of them, to read them and to decide", async () => {
  let turns = 0;
  let turnsToRead: number | undefined;
  const dependencies = {
    turns: { renew: () => (++turns % 10 === 0 ? Promise.resolve() : undefined) },
    subjectOrgs: {
      confirm: () => {
        turnsToRead = turns;
        return Promise.resolve(undefined);
      },
    },
  } as unknown as AccessDependencies;
  const check = createCheckAccessOfAll(dependencies);
  const answers = await check({ orgId: "org" } as never, requests, new AbortController().signal);
  expect(answers.map(({ allowed }) => allowed)).toEqual(requests.map(() => false));
  expect([turnsToRead, turns]).toEqual([100, 200]);
});
