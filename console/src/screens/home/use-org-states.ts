import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { type Org, OrgsService, Org_State } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { texts } from "../../texts/texts.ts";
import type { StateAction } from "../../ui/actions/state-action.ts";

export const undeleteOrg = "iam.orgs.undelete";

/** What changes the state of an org: it is suspended, activated and restored. How it is deleted, its account says. */
export function useOrgStates(): readonly StateAction<Org>[] {
  const orgs = createClient(OrgsService, useTransport());
  return [
    {
      act: lifecycleTexts.suspend,
      intro: lifecycleTexts.suspendIntro,
      done: texts.done.suspended,
      kind: "danger",
      permission: "iam.orgs.suspend",
      fits: ({ state }) => state === Org_State.ACTIVE,
      run: (versioned) => orgs.suspendOrg(versioned),
    },
    {
      act: lifecycleTexts.activate,
      intro: lifecycleTexts.activateIntro,
      done: texts.done.activated,
      kind: "plain",
      permission: "iam.orgs.activate",
      fits: ({ state }) => state === Org_State.SUSPENDED,
      run: (versioned) => orgs.activateOrg(versioned),
    },
    {
      act: lifecycleTexts.restore,
      intro: lifecycleTexts.restoreOrg,
      done: lifecycleTexts.restored,
      kind: "plain",
      permission: undeleteOrg,
      fits: ({ state }) => state === Org_State.DELETED,
      run: (versioned) => orgs.undeleteOrg(versioned),
    },
  ];
}
