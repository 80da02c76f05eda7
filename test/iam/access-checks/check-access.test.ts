import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CheckAccessRequestSchema } from "../../../gen/iam/v1alpha/access_pb.ts";
import { createCheckAccessOfAll } from "../../../src/iam/access-checks/check-access.ts";
import type { AccessDependencies } from "../../../src/iam/access-checks/dependencies.ts";
import { createCallSlices } from "../../../src/scheduling/call-slices.ts";

const requests = Array.from({ length: 100 }, (_, index) =>
  create(CheckAccessRequestSchema, {
    subjectPath: `/orgs/acme/members/m-${index}`,
    permission: "iam.orgs.get",
    resourcePath: "/orgs/acme",
  }),
);

test("a batch of checks can wait for a time slice between any two of them, to read them and to decide", async () => {
  let asked = 0;
  let askedToRead: number | undefined;
  const slices = createCallSlices(() => (++asked % 10 === 0 ? Promise.resolve() : undefined));
  const dependencies = {
    subjectOrgs: {
      confirm: () => {
        askedToRead = asked;
        return Promise.resolve(undefined);
      },
    },
  } as unknown as AccessDependencies;
  const check = createCheckAccessOfAll(dependencies);
  const answers = await check(
    { caller: { orgId: "org" } as never, slices, signal: new AbortController().signal, context: {} as never },
    requests,
  );
  expect(answers.map(({ allowed }) => allowed)).toEqual(requests.map(() => false));
  expect([askedToRead, asked]).toEqual([100, 200]);
});
