import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { BatchCheckAccessRequestSchema, CheckAccessRequestSchema } from "../../../gen/iam/v1alpha/access_pb.ts";
import { type RequestFields, readAnyPaths } from "../../../src/rpc/authorisation/read-paths.ts";
import type { AnyPathField } from "../../../src/rpc/authorisation/path-fields.ts";

const alone: AnyPathField = {
  listName: undefined,
  messageName: undefined,
  localName: "resourcePath",
  name: "resource_path",
};

/** Returns the number of paths, and of the steps in which they are read. */
function read(field: AnyPathField, message: object): { paths: number; steps: number } {
  const steps = readAnyPaths(field, message as RequestFields);
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done === true) return { paths: step.value.length, steps: count };
  }
}

describe("the paths of an access question", () => {
  test("are read in a step for each that differs", () => {
    const checks = Array.from({ length: 100 }, (_, index) => ({ resourcePath: `/orgs/acme/projects/p-${index % 60}` }));
    const message = create(BatchCheckAccessRequestSchema, { checks });
    expect(read({ ...alone, listName: "checks" }, message)).toEqual({ paths: 60, steps: 60 });
  });

  test("are read at once if there is one", () => {
    const message = create(CheckAccessRequestSchema, { resourcePath: "/orgs/acme" });
    expect(read(alone, message)).toEqual({ paths: 1, steps: 0 });
  });
});
