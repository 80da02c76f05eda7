import { useQuery } from "@connectrpc/connect-query";
import { QuotaRequestsService } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { aboveTexts } from "../../texts/above-texts.ts";
import { Section } from "../../ui/page.tsx";
import { RequestCards } from "../overview/request-cards.tsx";

/** What each card asks about its org is a call of its own. */
const pageSize = 12;

/**
 * The requests for quota that wait, the oldest first, in all orgs in which the person may list them: the API has no filter for those of one
 * customer.
 *
 * @param where a customer, or empty for the platform: only who may list them there is asked about.
 */
export function WaitingEverywhere({ where }: { readonly where: string }) {
  const enabled = usePermissions(where, ["iam.quotaRequests.list"]).may("iam.quotaRequests.list") === true;
  const request = { parentPath: "orgs/-", pageSize, filter: "state = PENDING" };
  const { data } = useQuery(QuotaRequestsService.method.listQuotaRequests, request, { enabled, retry: false });
  if (data === undefined) return null;
  // What somebody types in a dialog stays when the last request has been decided by somebody else.
  return (
    <div hidden={data.quotaRequests.length === 0}>
      <Section title={aboveTexts.waiting}>
        <RequestCards requests={data.quotaRequests} />
      </Section>
    </div>
  );
}
