// Calls of the methods for files, as a caller.
import type { JsonObject } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import {
  OrgFilesService,
  type PlanOrgResponse,
  PlannedChange_ActionSchema as ActionSchema,
  Prune,
} from "../../gen/iam/v1alpha/org_file_pb.ts";
import { type Company, openCompany } from "../access/callers.ts";
import type { SharedServer } from "../support/shared-server.ts";
import { type Protocol, createTransport } from "../support/transports.ts";

export interface Files {
  readonly client: Client<typeof OrgFilesService>;
  readonly export: () => Promise<JsonObject>;
  /** Plans and returns the changes in lines, `CREATE groups/sre`, and what stands in their way. */
  readonly plan: (file: JsonObject, options?: FileOptions) => Promise<PlanOrgResponse & { readonly lines: string[] }>;
  /** Plans and applies. */
  readonly apply: (
    file: JsonObject,
    options?: FileOptions,
  ) => Promise<{ readonly changeCount: number; readonly revision: string }>;
}

interface FileOptions {
  readonly prune?: Prune;
  readonly maxRemovalPercent?: number;
  readonly source?: { readonly address: string; readonly version?: string };
  /** Of a plan only. */
  readonly authorPath?: string;
}

export const all = { prune: Prune.ALL, maxRemovalPercent: 100 };

interface CompanyWithFiles {
  readonly company: Company;
  readonly files: Files;
  /** The name of its org. */
  readonly org: string;
  /** The key of the owner who plans and applies. */
  readonly key: string;
}

/** Opens a company with an owner who plans and applies files, over gRPC. */
export async function openFiles(server: SharedServer): Promise<CompanyWithFiles> {
  const company = await openCompany("gRPC", server);
  const { key } = await company.joinAs("owner", "olive");
  const { path, name } = company.org;
  return { company, files: filesOf(path, server.url, key, "gRPC"), org: name, key };
}

export function filesOf(path: string, url: string, key: string, protocol: Protocol = "Connect"): Files {
  const client = createClient(OrgFilesService, createTransport(protocol, url, key));
  const plan: Files["plan"] = async (file, options = {}) => {
    const planned = await client.planOrg({ path, orgFile: file, ...options });
    const lines = planned.changes.map(({ action, resourcePath, changedFields }) =>
      [ActionSchema.value[action]?.name, resourcePath.split("/").slice(3).join("/"), ...changedFields].join(" "),
    );
    return Object.assign(planned, { lines });
  };
  return {
    client,
    plan,
    async export() {
      const { orgFile: file = {} } = await client.exportOrg({ path });
      return file;
    },
    async apply(file, options = {}) {
      const { plan: token } = await plan(file, options);
      return client.applyOrg({ path, orgFile: file, ...options, plan: token });
    },
  };
}
