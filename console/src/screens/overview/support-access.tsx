import { Link } from "@tanstack/react-router";
import type { Org } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { useSession } from "../../app/use-session.ts";
import { nameOf, orgOf, systemOrg } from "../../calls/paths.ts";
import { supportTexts } from "../../texts/support-texts.ts";
import { Section } from "../../ui/page.tsx";
import { OrgSwitch } from "./org-switch.tsx";

/** Whether the org approves what people of the platform do in it. Its members see that, and its owners change it. */
export function SupportAccess({ org }: { readonly org: Org }) {
  const isOwn = orgOf(useSession().member) === org.path;
  const { supportAccessRequired: required = false, path } = org;
  // The org of the platform does not have it.
  if (path === systemOrg || (!isOwn && !required)) return null;
  return (
    <Section
      title={supportTexts.title}
      actions={
        <>
          {required ? (
            <Link to="/orgs/$org/accessRequests" params={{ org: nameOf(path) }}>
              {supportTexts.requests}
            </Link>
          ) : null}
          {isOwn ? <OrgSwitch org={org} changeOf={changeOf} /> : null}
        </>
      }
    >
      <p>{required ? supportTexts.required : supportTexts.open}</p>
    </Section>
  );
}

function changeOf({ supportAccessRequired: required = false }: Org) {
  const action = required ? "release" : "require";
  return {
    action: supportTexts[action],
    intro: supportTexts[`${action}Intro`],
    done: supportTexts.done[action],
    fields: { supportAccessRequired: !required },
    paths: ["support_access_required"],
  };
}
