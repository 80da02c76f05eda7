import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { QuotaRequestsService } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { Loading } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";

/** Loaded where something waits. */
const RequestCards = lazy(async () => ({ default: (await import("./request-cards.tsx")).RequestCards }));

/** The requests for more quota that nobody has decided yet; nothing where there are none, or for people who may not list them. */
export function WaitingRequests({ org }: { readonly org: string }) {
  const request = { parentPath: org, pageSize: 50, filter: "state = PENDING" };
  const enabled = usePermissions(org, ["iam.quotaRequests.list"]).may("iam.quotaRequests.list") === true;
  const { data } = useQuery(QuotaRequestsService.method.listQuotaRequests, request, { enabled, retry: false });
  if (data === undefined || data.quotaRequests.length === 0) return null;
  return (
    <Section
      title={texts.requests.title}
      actions={
        <Link to="/orgs/$org/quotaRequests" params={{ org: nameOf(org) }}>
          {texts.requests.all}
        </Link>
      }
    >
      <Suspense fallback={<Loading />}>
        <RequestCards requests={data.quotaRequests} />
      </Suspense>
    </Section>
  );
}
