// Checks that iam.v1alpha.ErrorReason lists the reasons that the code has, no more and no fewer. The compiler compares them: a
// reason that only one side has is an error of `npm run check:types` in this file.
import { expect, test } from "vitest";
import { ErrorReason, ErrorReasonSchema } from "../../gen/iam/v1alpha/error_reason_pb.ts";
import type { ErrorReason as ServiceErrorReason } from "../../src/errors/service-error.ts";
import type { PlainErrorReason } from "../../src/http/plain-error.ts";
import type { RestErrorReason } from "../../src/rest/errors/rest-error.ts";

type Listed = Exclude<keyof typeof ErrorReason, "ERROR_REASON_UNSPECIFIED">;
type InCode = ServiceErrorReason | RestErrorReason | PlainErrorReason;

/** What only one side has. */
type OnlyListed = Exclude<Listed, InCode>;
type OnlyInCode = Exclude<InCode, Listed>;
const nothing: [OnlyListed, OnlyInCode] extends [never, never] ? true : [OnlyListed, OnlyInCode] = true;

test("the list of reasons is that of the code", () => {
  expect(nothing).toBe(true);
  expect(ErrorReasonSchema.values.length).toBe(Object.keys(ErrorReason).length);
});
