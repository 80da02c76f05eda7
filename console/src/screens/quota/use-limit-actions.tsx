import { type ReactNode, useState } from "react";
import type { Quota } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { orgOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import type { Kind } from "../../calls/use-kinds.ts";
import { quotaTexts } from "../../texts/quota-texts.ts";
import { amountOf } from "../../ui/amount.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { AskDialog } from "../quota-requests/ask-dialog.tsx";
import { type AskedLimit, LimitDialog } from "./limit-dialog.tsx";
import type { Levels } from "./use-levels.ts";

/** What changes a limit: whoever may sets it, and whoever may not raise it asks for more. */
export interface LimitActions {
  readonly buttons: (kind: string, named: Kind) => ReactNode;
  readonly dialogs: ReactNode;
}

export function useLimitActions({ own, above, raising }: Levels, quota: Quota): LimitActions {
  const [asked, setAsked] = useState<AskedLimit>();
  const [wanted, setWanted] = useState<string>();
  const nameOf = useDisplayNames([own.path]);
  const org = orgOf(own.path);
  // More is asked of the org, also for a project.
  const asking = above.find(({ path }) => path === org)?.permissions ?? own.permissions;
  const mayRaise = raising.may("iam.quotas.update") === true;
  const up = above[0] === undefined ? quotaTexts.platform : quotaTexts.levels[above[0].kind];
  const buttons = (kind: string, named: Kind): ReactNode => (
    <span className="actions end">
      <GuardedButton
        permissions={own.permissions}
        permission="iam.quotas.update"
        label={
          amountOf(quota.limits, kind) === undefined ? quotaTexts.setOf(named.name) : quotaTexts.changeOf(named.name)
        }
        onClick={() => setAsked({ quota, kind, named })}
      >
        {amountOf(quota.limits, kind) === undefined ? quotaTexts.set : quotaTexts.change}
      </GuardedButton>
      {mayRaise || org === "" || amountOf(quota.limits, kind) === undefined ? null : (
        <GuardedButton
          permissions={asking}
          permission="iam.quotaRequests.create"
          label={quotaTexts.askOf(named.name)}
          onClick={() => setWanted(kind)}
        >
          {quotaTexts.ask}
        </GuardedButton>
      )}
    </span>
  );
  const preset = wanted === undefined ? undefined : { of: { value: own.path, label: nameOf(own.path) }, kind: wanted };
  const dialogs = (
    <>
      <LimitDialog
        asked={asked}
        restriction={mayRaise ? undefined : quotaTexts.onlyLower(up)}
        onClose={() => setAsked(undefined)}
      />
      <AskDialog org={org} preset={preset} open={wanted !== undefined} onClose={() => setWanted(undefined)} />
    </>
  );
  return { buttons, dialogs };
}
