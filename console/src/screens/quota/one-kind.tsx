import { Link } from "@tanstack/react-router";
import type { Quota } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { parentOfQuota } from "../../calls/paths.ts";
import { useQuantityKinds } from "../../calls/use-kinds.ts";
import { quotaTexts } from "../../texts/quota-texts.ts";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Page } from "../../ui/page.tsx";
import { UsageLink } from "../usage/usage-link.tsx";
import { HiddenLevels, LeftAmount, LevelUse } from "./level-use.tsx";
import { UsedByOrg, UsedByProject } from "./used-by.tsx";
import { useLimitActions } from "./use-limit-actions.tsx";
import type { Levels } from "./use-levels.ts";

interface OneKindProps {
  readonly title: string;
  readonly levels: Levels;
  readonly quota: Quota;
  readonly kind: string;
}

/** One kind of Quantities: what is used at each level, and by which projects of an org, or orgs of a customer. */
export function OneKind({ title, levels, quota, kind }: OneKindProps) {
  const named = useQuantityKinds()(kind);
  const { buttons, dialogs } = useLimitActions(levels, quota);
  const { own, above } = levels;
  const UsedBy = own.kind === "org" ? UsedByProject : UsedByOrg;
  return (
    <Page
      kind={title}
      title={named.name}
      actions={
        <>
          <Link to="." search={{}} className="button plain">
            {quotaTexts.allKinds}
          </Link>
          <UsageLink path={own.path} kind={kind} className="button plain" />
          {buttons(kind, named)}
        </>
      }
    >
      <Facts>
        {[own, ...above.filter(({ hidden }) => !hidden)].map((level) => (
          <Fact key={level.path} title={quotaTexts.levels[level.kind]}>
            <LevelUse level={level} kind={kind} named={named} />
          </Fact>
        ))}
        <Fact title={quotaTexts.left}>
          <LeftAmount levels={levels} kind={kind} named={named} />
        </Fact>
      </Facts>
      <HiddenLevels levels={levels} />
      <UsedBy of={parentOfQuota(quota.path)} kind={kind} named={named} />
      {dialogs}
    </Page>
  );
}
