import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from "../../gen/google/rpc/error_details_pb.ts";
import { type ErrorReason, ServiceError, invalidFields, notFound } from "../../src/errors/service-error.ts";
import { errorDomain, toConnectError, toServiceError } from "../../src/rpc/to-connect-error.ts";

/** The code of every reason that clients may see. A reason keeps its code, because it is part of the API. */
const codes: Record<ErrorReason, Code> = {
  FIELD_INVALID: Code.InvalidArgument,
  PATH_INVALID: Code.InvalidArgument,
  PAGE_TOKEN_INVALID: Code.InvalidArgument,
  RESOURCE_NOT_FOUND: Code.NotFound,
  RESOURCE_EXISTS: Code.AlreadyExists,
  ETAG_STALE: Code.Aborted,
  STATE_FORBIDS: Code.FailedPrecondition,
  RESOURCE_IN_USE: Code.FailedPrecondition,
  CLAIM_VOID: Code.Aborted,
  SUBGROUP_CYCLE: Code.FailedPrecondition,
  LAST_ORG: Code.FailedPrecondition,
  OPERATOR_PROTECTED: Code.FailedPrecondition,
  ROLE_PREDEFINED: Code.FailedPrecondition,
  TOKEN_MISSING: Code.Unauthenticated,
  TOKEN_INVALID: Code.Unauthenticated,
  GRANT_INVALID: Code.Unauthenticated,
  ADDRESS_NOT_ALLOWED: Code.PermissionDenied,
  PERMISSION_DENIED: Code.PermissionDenied,
  GRANT_EXCEEDS_OWN: Code.PermissionDenied,
  REVOKE_EXCEEDS_OWN: Code.PermissionDenied,
  LAST_OWNER: Code.FailedPrecondition,
  LIMIT_EXCEEDED: Code.ResourceExhausted,
  QUOTA_EXCEEDED: Code.ResourceExhausted,
  RATE_LIMITED: Code.ResourceExhausted,
  REVISION_EXPIRED: Code.OutOfRange,
  STREAM_ENDED: Code.Unavailable,
  REQUEST_CANCELLED: Code.Canceled,
  DEADLINE_EXCEEDED: Code.DeadlineExceeded,
  SERVICE_UNAVAILABLE: Code.Unavailable,
  INTERNAL: Code.Internal,
};
const reasons = Object.keys(codes) as ErrorReason[];

describe.each(reasons)("%s", (reason) => {
  const error = toConnectError(
    new ServiceError(reason, "what happened", { metadata: { resource: "/orgs/a" } }),
    "id-1",
  );

  test("has its code, the message, and ErrorInfo with the reason, our domain and the metadata", () => {
    expect(error.code).toBe(codes[reason]);
    expect(error.rawMessage).toBe("what happened");
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason, domain: errorDomain, metadata: { resource: "/orgs/a" } },
    ]);
  });

  test("has the id of the request", () => {
    expect(error.findDetails(RequestInfoSchema)).toMatchObject([{ requestId: "id-1" }]);
  });

  test("has WWW-Authenticate only for a missing or an invalid token", () => {
    const expected = { TOKEN_MISSING: "Bearer", TOKEN_INVALID: 'Bearer error="invalid_token"' } as Partial<
      Record<ErrorReason, string>
    >;
    expect(error.metadata.get("www-authenticate")).toBe(expected[reason] ?? null);
  });

  test("has retry and quota details only if they are given", () => {
    expect(error.metadata.get("retry-after")).toBeNull();
    expect(error.findDetails(RetryInfoSchema)).toEqual([]);
    expect(error.findDetails(QuotaFailureSchema)).toEqual([]);
  });
});

describe("an error", () => {
  test("has a violation for each field, and no BadRequest without violations", () => {
    const violations = [
      { field: "member.name", description: "must be set", rule: "required" },
      { field: "page_size", description: "must be 0 or more" },
    ];
    const error = toConnectError(invalidFields(violations), "");
    expect(error.findDetails(BadRequestSchema)).toMatchObject([
      {
        fieldViolations: [
          { field: "member.name", description: "must be set", reason: "REQUIRED" },
          { field: "page_size", description: "must be 0 or more", reason: "" },
        ],
      },
    ]);
    expect(error.rawMessage).toBe("member.name: must be set; page_size: must be 0 or more");
    expect(toConnectError(notFound("org", "/orgs/a"), "").findDetails(BadRequestSchema)).toEqual([]);
  });

  test.each([
    [1, "1"],
    [999.2, "1"],
    [1_000, "1"],
    [1_001, "2"],
    [59_999, "60"],
    [0, "1"],
    [-5, "1"],
  ])("with a retry delay of %d ms has it in milliseconds, and in whole seconds of at least one", (ms, seconds) => {
    const error = toConnectError(new ServiceError("RATE_LIMITED", "wait", { retryAfterMs: ms }), "");
    const [info] = error.findDetails(RetryInfoSchema);
    expect(info?.retryDelay && durationMs(info.retryDelay)).toBe(Math.max(1, Math.ceil(ms)));
    expect(error.metadata.get("retry-after")).toBe(seconds);
  });

  test("has the exceeded limits", () => {
    const quotas = [
      { subject: "/orgs/acme", description: "an org may have 10 projects" },
      { subject: "org", description: "and make 5 writes a minute" },
    ];
    const error = toConnectError(new ServiceError("LIMIT_EXCEEDED", "full", { quotas }), "");
    expect(error.findDetails(QuotaFailureSchema)).toMatchObject([{ violations: quotas }]);
    expect(error.metadata.get("retry-after")).toBeNull();
  });

  test("has no RequestInfo if the request has no id", () => {
    expect(toConnectError(notFound("org", "/orgs/a"), "").findDetails(RequestInfoSchema)).toEqual([]);
  });
});

/** Returns everything of an error that leaves the service. */
function sent(error: ConnectError): string {
  const details = error.details.map((detail) => ("value" in detail ? JSON.stringify(detail.value, bigints) : ""));
  return [error.message, ...details, ...error.metadata.keys(), ...error.metadata.values()].join("\n");
}

const bigints = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

describe("an exception", () => {
  test.each([
    new Error("password is hunter2"),
    new TypeError("hunter2 is not a function"),
    Object.assign(new Error("hunter2"), { code: "ENOENT" }),
    new ConnectError("hunter2", Code.NotFound),
    "hunter2",
    { message: "hunter2" },
    undefined,
  ])("becomes INTERNAL, and none of it is sent: %o", (thrown) => {
    const error = toServiceError(thrown);
    expect(error).toMatchObject({ reason: "INTERNAL", cause: thrown });
    const connectError = toConnectError(error, "id-1");
    expect(connectError.code).toBe(Code.Internal);
    expect(connectError.rawMessage).toBe(
      "internal error; the log of the service has the cause under the id of this request",
    );
    expect(sent(connectError)).not.toContain("hunter2");
  });

  test("of the database becomes SERVICE_UNAVAILABLE, and none of it is sent", () => {
    const error = toServiceError(new Error("Connection terminated unexpectedly, hunter2"));
    expect(error.reason).toBe("SERVICE_UNAVAILABLE");
    expect(toConnectError(error, "id-1").metadata.get("retry-after")).toBe("1");
    expect(sent(toConnectError(error, "id-1"))).not.toContain("hunter2");
  });

  test("for the caller is sent as it is, without its cause", () => {
    const error = new ServiceError("RESOURCE_EXISTS", "taken", { cause: new Error("hunter2") });
    expect(toServiceError(error)).toBe(error);
    expect(sent(toConnectError(error, "id-1"))).not.toContain("hunter2");
  });
});
