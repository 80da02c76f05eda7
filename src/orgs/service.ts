import type { ServiceImpl } from "@connectrpc/connect";
import { OrgSchema, OrgsService } from "../../gen/iam/v1alpha/org_pb.ts";
import { lockCustomer } from "../customers/store.ts";
import { violatedConstraint } from "../database/failure.ts";
import { ServiceError } from "../errors/service-error.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { required } from "../resource/required.ts";
import type { ResourceDependencies } from "../resource/standard-methods.ts";
import { createStandardService, readWriteRequest } from "../resource/standard-service.ts";
import { runWrite } from "../resource/write-request.ts";
import { createOrg } from "./create-org.ts";
import { loggedOrg, orgPath, toOrg } from "./message.ts";
import { type OrgRow, deleteOrg, findOrg, liveOrgsOf, readOrgsPage, selectOrgs, updateOrg } from "./store.ts";

import { orgFields } from "./fields.ts";

export function createOrgsService(dependencies: ResourceDependencies): ServiceImpl<typeof OrgsService> {
  const { database, installation } = dependencies;
  return createStandardService(
    OrgsService,
    dependencies,
    {
      type: "Org",
      label: "org",
      schema: OrgSchema,
      toMessage: toOrg,
      pathOf: orgPath,
      idOf: (row: OrgRow) => row.id,
      logged: loggedOrg,
      fields: orgFields,
      uniqueKey: ["orgs.id"],
      lookup: createPathLookup(database, "orgs", ["orgs"], selectOrgs(database.reads)),
      resolveParent: (parent) => Promise.resolve(parent),
      readPage: readOrgsPage,
      find: findOrg,
      // The customer first: whoever deletes one takes its lock before those of its orgs.
      async lockBeforeDelete(db, path) {
        const org = await findOrg(db, path);
        if (org !== undefined) await lockCustomer(db, { by: "id", value: org.customer_id });
      },
      update: ({ db, revision }, row, org) => updateOrg(db, row, org, revision),
      async remove({ db, revision }, row) {
        // Again, should the path have changed hands before its org was locked.
        await lockCustomer(db, { by: "id", value: row.customer_id });
        if (row.id === installation.systemOrgId) throw systemOrgProtected();
        const siblings = await liveOrgsOf(db, row.customer_id);
        if (siblings.length === 1) throw lastOrg(row);
        return deleteOrg(db, row, revision);
      },
      explain: explainOrgError,
    },
    {
      async createOrg(request, context) {
        const org = required(request.org);
        const write = readWriteRequest(OrgsService.method.createOrg, request, context);
        try {
          return await runWrite(database, write, async (db) =>
            toOrg(await createOrg(db, org, write.author, installation.systemOrgId)),
          );
        } catch (error) {
          throw explainOrgError(error, org) ?? error;
        }
      },
    },
  );
}

function explainOrgError(error: unknown, org: { readonly name: string } | undefined): ServiceError | undefined {
  if (violatedConstraint(error) === "customers_name_key" && org !== undefined) {
    const message = `there is already a customer named ${JSON.stringify(org.name)}; to create the org there, set customer_path to /customers/${org.name}`;
    return new ServiceError("RESOURCE_EXISTS", message, { metadata: { name: org.name }, cause: error });
  }
  return explainNameTaken(error, "orgs_name_key", "org", org);
}

function systemOrgProtected(): ServiceError {
  return new ServiceError(
    "OPERATOR_PROTECTED",
    "the org that the operator of this installation is in cannot be deleted",
  );
}

function lastOrg(row: OrgRow): ServiceError {
  const { path, customerPath } = toOrg(row);
  return new ServiceError(
    "LAST_ORG",
    `the org ${path} is the last one of ${customerPath}; delete the customer to delete both`,
    { metadata: { resource: path, customer: customerPath } },
  );
}
