import { useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Org, OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { useSession } from "../../app/use-session.ts";
import { nameOf, orgOf, systemOrg } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { supportTexts } from "../../texts/support-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Section } from "../../ui/page.tsx";
import { Said } from "../../ui/said.tsx";

const updateOrg = "iam.orgs.update";

/** Whether the org approves what people of the platform do in it. Its members see that, and its owners change it. */
export function SupportAccess({ org }: { readonly org: Org }) {
  const isOwn = orgOf(useSession().member) === org.path;
  const { supportAccessRequired: required, path } = org;
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
          {isOwn ? <SupportSwitch org={org} /> : null}
        </>
      }
    >
      <p>{required ? supportTexts.required : supportTexts.open}</p>
    </Section>
  );
}

function SupportSwitch({ org: current }: { readonly org: Org }) {
  // The org as it was when the question was asked.
  const [asked, setAsked] = useState<Org>();
  const permissions = usePermissions(current.path, [updateOrg]);
  const update = useMutation(OrgsService.method.updateOrg);
  const { path, etag, name, displayName, supportAccessRequired } = asked ?? current;
  const action = supportAccessRequired ? "release" : "require";
  const submit = () => {
    const org = { etag, supportAccessRequired: !supportAccessRequired };
    return update.mutateAsync({ path, org, updateMask: { paths: ["support_access_required"] } });
  };
  return (
    <>
      <GuardedButton permissions={permissions} permission={updateOrg} onClick={() => setAsked(current)}>
        {supportTexts[action]}
      </GuardedButton>
      <FormDialog
        title={supportTexts[action]}
        intro={supportTexts[`${action}Intro`]}
        submit={supportTexts[action]}
        done={<Said what={supportTexts.done[action]} name={displayName || name} />}
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onSubmit={submit}
      />
    </>
  );
}
