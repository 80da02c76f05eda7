import { describe, expect, test } from "vitest";
import { createMethodTable } from "../../src/rpc/method-table.ts";
import { readDeprecation } from "../../src/rpc/read-deprecation.ts";
import { services } from "../../src/rpc/services.ts";
import { type ServiceInit, describeService } from "./describe-service.ts";

function describeMethod(init: Pick<ServiceInit, "deprecated" | "deprecation">) {
  const option = { permission: "iam.things.get", pathField: "path" };
  return describeService({ option, resourceType: "iam.tenantry.dev/Member", ...init });
}

const since = "2027-03-01";

describe("the deprecation of a method", () => {
  test("is read from its options, with /docs/versions as the link", () => {
    const [method] = describeMethod({ deprecated: true, deprecation: { since, sunset: "2027-09-01" } }).methods;
    expect(method && readDeprecation(method)).toEqual({
      since: new Date("2027-03-01T00:00:00Z"),
      sunset: new Date("2027-09-01T00:00:00Z"),
      replacement: undefined,
      link: "/docs/versions",
    });
  });

  test.each([
    ["without a date", { deprecated: true }, "has no (iam.v1alpha.deprecation) option"],
    ["without deprecated = true", { deprecation: { since } }, "but not deprecated = true"],
    [
      "with a sunset alone",
      { deprecated: true, deprecation: { sunset: since } },
      'since must be a day such as 2027-03-01, got ""',
    ],
    [
      "with a sunset before its start",
      { deprecated: true, deprecation: { since, sunset: "2027-02-28" } },
      "its sunset, 2027-02-28, is before since, 2027-03-01",
    ],
    [
      "with a day that does not exist",
      { deprecated: true, deprecation: { since: "2027-02-30" } },
      'since must be a day such as 2027-03-01, got "2027-02-30"',
    ],
    [
      "with a time",
      { deprecated: true, deprecation: { since, sunset: "2027-09-01T12:00:00Z" } },
      'sunset must be a day such as 2027-03-01, got "2027-09-01T12:00:00Z"',
    ],
    [
      "with a link that would end the header's value",
      { deprecated: true, deprecation: { since, link: "https://a>, <b" } },
      "link must be a URL such as https://example.com/changes or a path",
    ],
  ])("%s keeps the server from starting", (_name, init, message) => {
    expect(() => createMethodTable([describeMethod(init)])).toThrow(message);
  });

  test("is declared by no method of the service at present", () => {
    expect([...createMethodTable(services).values()].filter(({ deprecation }) => deprecation !== undefined)).toEqual(
      [],
    );
  });
});
