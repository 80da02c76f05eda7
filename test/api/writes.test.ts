// Tests that the table of writes, with which the tests of validate_only, request_id and allow_missing run, has every write.
import { expect, test } from "vitest";
import { SessionsService } from "../../gen/iam/v1alpha/session_pb.ts";
import { type ResourceType, isSingletonType } from "../../src/paths/patterns.ts";
import { services } from "../../src/rpc/services.ts";
import { isInParent, isRunByProvider, verbsOf, writtenResource } from "../support/written-resources.ts";
import { cases } from "./prepared-writes.ts";

test("the table has every write of every service, and each has the options", () => {
  const table = new Set(
    cases.flatMap(({ resource }) =>
      verbsOf(resource).map((verb) => `${resource.service.typeName}/${verb}${resource.nouns.one}`),
    ),
  );
  for (const service of services) {
    for (const { name, input } of service.methods) {
      const [, verb, type] = /^(Create|Update|Delete)(.+)$/.exec(name) ?? [];
      // Tokens start sessions, and members ask for access: both have their own tests.
      if (verb === undefined || service === SessionsService || type === "AccessRequest") continue;
      const fields = input.fields.map((field) => field.name);
      const isNamed = !isSingletonType(type ?? "");
      const resource = isNamed ? writtenResource(type as ResourceType) : undefined;
      const upsert = verb === "Update" && resource !== undefined && isInParent(resource);
      // An Operation always has a resource.
      const mayMiss = resource === undefined || !isRunByProvider(resource);
      const shared = [
        "validate_only",
        "request_id",
        ...(mayMiss && (upsert || verb === "Delete") ? ["allow_missing"] : []),
      ];
      expect(fields, name).toEqual(expect.arrayContaining(shared));
      // Singletons are not created or deleted, and have their own tests.
      if (isNamed) expect(table).toContain(`${service.typeName}/${name}`);
    }
  }
});
