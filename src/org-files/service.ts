// Orgs as files: a facade over the methods of what is in them, which it calls as its caller.
import type { ServiceImpl } from "@connectrpc/connect";
import type { OrgFilesService } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { targetOf } from "../access/evaluation/call.ts";
import { patterns } from "../paths/patterns.ts";
import { type OfCaller, readState } from "./read-state.ts";
import { writeFile } from "./write-file.ts";

interface OrgFilesDependencies {
  readonly ofCaller: OfCaller;
}

export function createOrgFilesService({ ofCaller }: OrgFilesDependencies): ServiceImpl<typeof OrgFilesService> {
  return {
    async exportOrg(_request, context) {
      const [org] = targetOf(context, patterns.Org);
      const state = await readState(ofCaller, context, org);
      return { file: writeFile(state), revision: state.revision };
    },
  };
}
