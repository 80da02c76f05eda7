import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { AccessRequestsService } from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { texts } from "../../texts/texts.ts";
import { Loading } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";

/** Loaded where something waits. */
const AccessCards = lazy(async () => ({ default: (await import("./access-cards.tsx")).AccessCards }));

/** The requests for access that nobody has decided yet; nothing where there are none that the person sees. */
export function WaitingAccess({ org }: { readonly org: string }) {
  const request = { parentPath: org, pageSize: 12, filter: "state = PENDING" };
  const { data } = useQuery(AccessRequestsService.method.listAccessRequests, request, { retry: false });
  if (data === undefined || data.accessRequests.length === 0) return null;
  return (
    <Section
      title={texts.requests.access}
      actions={
        <Link to="/orgs/$org/accessRequests" params={{ org: nameOf(org) }}>
          {texts.requests.all}
        </Link>
      }
    >
      <Suspense fallback={<Loading />}>
        <AccessCards requests={data.accessRequests} />
      </Suspense>
    </Section>
  );
}
