import { useQuery } from "@connectrpc/connect-query";
import { AccessRequestsService } from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";
import { Section } from "../../ui/page.tsx";
import { RequestTable } from "./request-table.tsx";

interface BegunRequestsProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly permissions: Permissions;
}

const filter = "break_glass = true AND state = APPROVED";

/** The access that began without a decision and lasts; nothing where there is none. */
export function BegunRequests({ org, permissions }: BegunRequestsProps) {
  const request = { parentPath: org, pageSize: 20, filter, orderBy: "create_time desc" };
  const { data } = useQuery(AccessRequestsService.method.listAccessRequests, request, { retry: false });
  if (data === undefined || data.accessRequests.length === 0) return null;
  return (
    <Section title={accessRequestTexts.begun}>
      <RequestTable label={accessRequestTexts.begun} permissions={permissions} rows={data.accessRequests} />
    </Section>
  );
}
