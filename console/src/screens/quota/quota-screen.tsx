import { useQuery } from "@connectrpc/connect-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { CustomersService } from "../../../../gen/iam/v1alpha/customer_pb.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { quotaTexts } from "../../texts/quota-texts.ts";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { KindList } from "./kind-list.tsx";
import { OneKind } from "./one-kind.tsx";
import { levelOf, useLevels } from "./use-levels.ts";

/** The quota of an org. */
export function OrgQuotaScreen() {
  const { org } = useParams({ from: "/orgs/$org/quota" });
  return <QuotaScreen path={`/orgs/${org}`} title={quotaTexts.title} />;
}

/** The quota of a project. */
export function ProjectQuotaScreen() {
  const { org, project } = useParams({ from: "/orgs/$org/projects/$project/quota" });
  const path = `/orgs/${org}/projects/${project}`;
  const nameOf = useDisplayNames([path]);
  return <QuotaScreen path={path} title={quotaTexts.titleOf(nameOf(path))} />;
}

/** The quota of a customer. */
export function CustomerQuotaScreen() {
  const { customer: name } = useParams({ from: "/customers/$customer/quota" });
  const path = `/customers/${name}`;
  const { data } = useQuery(CustomersService.method.getCustomer, { path }, { retry: false });
  return <QuotaScreen path={path} title={quotaTexts.titleOf(data?.displayName || name)} />;
}

interface QuotaScreenProps {
  /** The org, project or customer. */
  readonly path: string;
  readonly title: string;
}

/** What is used of each kind against the limits of a level and of those above it; with a kind in the URL, where that is used. */
function QuotaScreen({ path, title }: QuotaScreenProps) {
  const { kind } = useSearch({ strict: false });
  const levels = useLevels(path);
  const isOne = kind !== undefined && levelOf(path) !== "project";
  return (
    <ScreenOf of={levels.own.quota}>
      {(quota) =>
        isOne ? (
          <OneKind title={title} levels={levels} quota={quota} kind={kind} />
        ) : (
          <KindList title={title} levels={levels} quota={quota} />
        )
      }
    </ScreenOf>
  );
}
