import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { type Org, OrgsService, Org_State } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { restoration, suspension } from "../../ui/actions/lifecycle-actions.ts";
import type { StateAction } from "../../ui/actions/state-action.ts";

const kind = "iam.orgs";

export const undeleteOrg = `${kind}.undelete`;

/** What changes the state of an org: it is suspended, activated and restored. How it is deleted, its account says. */
export function useOrgStates(): readonly StateAction<Org>[] {
  const orgs = createClient(OrgsService, useTransport());
  return [
    ...suspension<Org>(kind, Org_State, {
      suspend: (versioned) => orgs.suspendOrg(versioned),
      activate: (versioned) => orgs.activateOrg(versioned),
    }),
    restoration(kind, Org_State, lifecycleTexts.restoreOrg, (versioned) => orgs.undeleteOrg(versioned)),
  ];
}
