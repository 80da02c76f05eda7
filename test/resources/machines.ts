// Resources with operations that run beside each other, on two servers with one database.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { Claim } from "../../gen/resources/v1alpha/provider_pb.ts";
import type { Resource } from "../../gen/resources/v1alpha/resource_pb.ts";
import type { OperationTypeSchema } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type SqlClient, openSqlClient } from "../support/sql.ts";
import { type SharedServer, secondSharedServer, sharedServer } from "../support/shared-server.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, openCloud } from "./cloud.ts";

interface Machines {
  readonly server: SharedServer;
  readonly sql: SqlClient;
  /** A new one for each test. */
  readonly cloud: Cloud;
  /** The clients of the other server. */
  readonly other: ResourcesApi;
  /** The path of the type `disks`. */
  readonly disks: string;
  /** The path of the type `machines`, which refer to disks, with the concurrent operations snapshot, attach and spare. */
  readonly machines: string;
  /** Creates a resource, and completes the creation. */
  create(name: string, typePath?: string, quantities?: Record<string, number>): Promise<string>;
  run(path: string, operation: string, references?: Record<string, string>, on?: ResourcesApi): Promise<Operation>;
  read(path: string): Promise<Resource>;
  /** Claims all operations that wait. */
  claimAll(): Promise<Claim[]>;
  complete(claim: Claim, on?: ResourcesApi): Promise<Operation>;
  fail(claim: Claim): Promise<Operation>;
}

export const claimOf = (claims: readonly Claim[], { path }: Operation): Claim =>
  required(claims.find(({ operation }) => operation?.path === path));

/** Opens what the tests of a file use. */
export function useMachines(): () => Machines {
  let server: SharedServer;
  let sql: SqlClient;
  let other: ResourcesApi;
  let opened: Machines;

  beforeAll(async () => {
    server = await sharedServer();
    const second = await secondSharedServer();
    sql = await openSqlClient(server.databaseUrl);
    other = createResourcesApi("gRPC", second.url, server.operatorKey);
  });
  afterAll(() => sql.close());

  beforeEach(async () => {
    const cloud = await openCloud("Connect", server.url, server.operatorKey);
    const createType = async (name: string, operations: MessageInitShape<typeof OperationTypeSchema>[]) => {
      const resourceType = { name, collection: name, operations };
      return (await cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType })).path;
    };
    const disks = await createType("disks", [{ verb: "create" }, { verb: "delete" }]);
    const wanted = [{ kind: cloud.cores, counted: true }];
    const disk = [{ name: "disk", typePath: disks }];
    const machines = await createType("machines", [
      { verb: "create", quantities: wanted, references: [...disk, { name: "spare", typePath: disks }] },
      { verb: "snapshot", concurrent: true },
      { verb: "attach", concurrent: true, references: disk },
      { verb: "spare", concurrent: true, references: [{ name: "spare", typePath: disks }] },
      { verb: "restart" },
      { verb: "delete" },
      { verb: "suspend" },
      { verb: "resume" },
    ]);
    opened = {
      server,
      sql,
      cloud,
      other,
      disks,
      machines,
      async create(name, typePath = machines, quantities = {}) {
        const resource = { name, typePath, quantities };
        const { resourcePath } = await cloud.resources.createResource({ parentPath: cloud.project, resource });
        await cloud.complete();
        return resourcePath;
      },
      run: (path, operation, references = {}, on = cloud) => on.resources.runResource({ path, operation, references }),
      read: (path) => cloud.resources.getResource({ path }),
      async claimAll() {
        return (await cloud.provider.claimOperations({ servicePath: cloud.servicePath, maxOperations: 100 })).claims;
      },
      complete: (claim, on = cloud) => on.provider.completeOperation(cloud.present(claim)),
      fail: (claim) => cloud.provider.failOperation({ ...cloud.present(claim), reason: "NO", message: "no" }),
    };
  });
  return () => opened;
}
