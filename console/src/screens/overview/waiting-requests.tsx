import { useQuery } from "@connectrpc/connect-query";
import { lazy, Suspense } from "react";
import { QuotaRequestsService } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { texts } from "../../texts/texts.ts";
import { Loading } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";

/** Loaded where something waits. */
const RequestCards = lazy(async () => ({ default: (await import("./request-cards.tsx")).RequestCards }));

/** The requests for more quota that nobody has decided yet; nothing where there are none. */
export function WaitingRequests({ org }: { readonly org: string }) {
  const request = { parentPath: org, pageSize: 50, filter: "state = PENDING" };
  const { data } = useQuery(QuotaRequestsService.method.listQuotaRequests, request, { retry: false });
  if (data === undefined || data.quotaRequests.length === 0) return null;
  return (
    <Section title={texts.requests.title}>
      <Suspense fallback={<Loading />}>
        <RequestCards org={org} requests={data.quotaRequests} />
      </Suspense>
    </Section>
  );
}
