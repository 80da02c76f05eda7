import { Link } from "@tanstack/react-router";
import type { Org } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { useSession } from "../../app/use-session.ts";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { approvalTexts } from "../../texts/approval-texts.ts";
import { Section } from "../../ui/page.tsx";
import { OrgSwitch } from "./org-switch.tsx";

/** How many members have to approve a request for access. Members of the org see that, and its owners change it. */
export function Approvals({ org }: { readonly org: Org }) {
  const isOwn = orgOf(useSession().member) === org.path;
  if (!isOwn && isOfOne(org)) return null;
  return (
    <Section
      title={approvalTexts.title}
      actions={
        <>
          <Link to="/orgs/$org/accessRequests" params={{ org: nameOf(org.path) }}>
            {approvalTexts.requests}
          </Link>
          {isOwn ? <OrgSwitch org={org} changeOf={changeOf} /> : null}
        </>
      }
    >
      <p>{isOfOne(org) ? approvalTexts.one : approvalTexts.two}</p>
    </Section>
  );
}

const isOfOne = ({ accessRequestApprovals = 1 }: Org): boolean => accessRequestApprovals === 1;

function changeOf(org: Org) {
  const action = isOfOne(org) ? "wantTwo" : "wantOne";
  return {
    action: approvalTexts[action],
    intro: approvalTexts[`${action}Intro`],
    done: approvalTexts.done[action],
    fields: { accessRequestApprovals: isOfOne(org) ? 2 : 1 },
    paths: ["access_request_approvals"],
  };
}
