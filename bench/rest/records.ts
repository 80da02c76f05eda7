import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  GetRecordRequestSchema,
  Record_State,
  RecordSchema,
  RecordsService,
} from "../../test/rest/gen/rest/test/v1/records_pb.ts";

const recordName = "orgs/acme/records/record-500";

/** The REST path of the record, and the path for sending one. */
export const getPath = `/v1/${recordName}`;
export const importPath = "/v1/orgs/acme/records:import";

/** The same Get over Connect and gRPC. */
export const rpcGet = {
  path: "/rest.test.v1.RecordsService/GetRecord",
  json: JSON.stringify({ name: recordName }),
  binary: toBinary(GetRecordRequestSchema, create(GetRecordRequestSchema, { name: recordName })),
};

/** A request body with ten fields. */
export const recordJson = JSON.stringify({
  name: recordName,
  uid: "0198a4a6-7b1f-7c3e-9a51-2b7f5f0c9d11",
  display_name: "Record Nº 500",
  email: "record-500@example.com",
  create_time: "2026-01-31T12:00:00Z",
  update_time: "2026-02-01T08:30:15.250Z",
  size: "1234567890123",
  verified: true,
  state: "ACTIVE",
  labels: { team: "storage", site: "north" },
});

/** What the methods answer. */
export const ready = create(RecordSchema, {
  name: recordName,
  uid: "0198a4a6-7b1f-7c3e-9a51-2b7f5f0c9d11",
  displayName: "Record Nº 500",
  email: "record-500@example.com",
  createTime: timestampFromDate(new Date("2026-01-31T12:00:00Z")),
  updateTime: timestampFromDate(new Date("2026-02-01T08:30:15.250Z")),
  size: 1234567890123n,
  verified: true,
  state: Record_State.ACTIVE,
  labels: { team: "storage", site: "north" },
});

/** Trivial methods, so that only the layers around them are measured. */
export function recordRoutes(router: ConnectRouter): void {
  router.service(RecordsService, { getRecord: () => ready, importRecord: () => ready });
}
