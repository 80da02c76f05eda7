import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { MembersService } from "../../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import type { CallRecord } from "../../src/http/call-record.ts";
import { type ExchangeSeries, createExchangeCounts } from "../../src/metrics/exchange-counts.ts";

const { getMember } = MembersService.method;

function createCounts() {
  const routeOf = (path: string) => (path === "/healthz" ? path : undefined);
  const counts = createExchangeCounts([getMember], ["/iam/v1alpha/"], ["/healthz"], routeOf);
  const end = (record: CallRecord, status = 200, url = "/", headers = {}, method = "POST"): void =>
    counts.onEnd({ method, url, headers } as unknown as IncomingMessage, record, status, 20);
  return { end, calls: () => codesOf(counts.calls()), requests: () => codesOf(counts.requests()), counts };
}

const codesOf = (series: readonly ExchangeSeries[]) =>
  series.map(({ labels, codes }) => [...Object.values(labels), Object.fromEntries(codes)]);

const gone = { name: "CANCELLED", http: 499 };

test("a call is counted by its method, protocol and code", () => {
  const { end, calls, requests, counts } = createCounts();
  end({ method: getMember, protocol: "grpc" });
  end({ method: getMember, protocol: "grpc", failure: { name: "NOT_FOUND", http: 404 } });
  end({ method: getMember, protocol: "rest", failure: gone }, 499);
  expect(calls()).toEqual([
    ["grpc", "iam.v1alpha.MembersService/GetMember", { OK: 1, NOT_FOUND: 1 }],
    ["rest", "iam.v1alpha.MembersService/GetMember", { CANCELLED: 1 }],
  ]);
  expect(requests()).toEqual([]);
  const [{ seconds } = { seconds: undefined }] = counts.calls();
  expect(seconds).toMatchObject({ counts: [0, 0, 0, 0, 2, 0, 0, 0, 0, 0], sum: 0.04 });
});

describe("what is in no table of ours is counted together:", () => {
  test("methods, and protocols", () => {
    const { end, calls } = createCounts();
    end({ method: OrgsService.method.getOrg, protocol: "grpc" });
    end({ method: OrgsService.method.listOrgs, protocol: "grpc" });
    end({ method: getMember, protocol: "carrier-pigeon" });
    expect(calls()).toEqual([
      ["_OTHER", "iam.v1alpha.MembersService/GetMember", { OK: 1 }],
      ["grpc", "_OTHER", { OK: 2 }],
    ]);
  });

  test.each([
    ["/iam/v1alpha/passwords", {}, "rest"],
    ["/iam.v1alpha.X/Y", { "content-type": "application/grpc+proto" }, "grpc"],
    ["/iam.v1alpha.X/Y", { "content-type": "application/grpc-web" }, "grpc-web"],
    ["/iam.v1alpha.X/Y", { "content-type": "application/proto" }, "connectrpc"],
    ["/iam.v1alpha.X/Y", { "connect-protocol-version": "1" }, "connectrpc"],
  ])("calls of unknown methods: %s %o", (url, headers, protocol) => {
    const { end, calls, requests } = createCounts();
    end({ failure: { name: "UNIMPLEMENTED", http: 501 } }, 404, url, headers);
    end({}, 429, url, headers);
    end({}, 418, url, headers);
    const codes = { UNIMPLEMENTED: 1, RESOURCE_EXHAUSTED: 1, UNKNOWN: 1 };
    expect(calls()).toEqual([[protocol, "_OTHER", codes]]);
    expect(requests()).toEqual([]);
  });

  test("paths and verbs", () => {
    const { end, calls, requests } = createCounts();
    end({}, 200, "/healthz?verbose=1", {}, "GET");
    end({}, 404, "/wp-login.php", {}, "GET");
    end({}, 404, "/.env", {}, "PROPFIND");
    end({}, 404, "/.git/config", {}, "PROPFIND");
    expect(calls()).toEqual([]);
    expect(requests()).toEqual([
      ["/healthz", "GET", { 200: 1 }],
      ["_OTHER", "GET", { 404: 1 }],
      ["_OTHER", "_OTHER", { 404: 2 }],
    ]);
  });
});
