import { useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import { texts } from "../texts/texts.ts";

/** Loaded when somebody opens it: it would be a sixth of the first page. */
const OrgChoices = lazy(async () => ({ default: (await import("./org-choices.tsx")).OrgChoices }));

/** Shows the current org, and leads to another one. */
export function OrgSwitch() {
  const { org: name } = useParams({ strict: false });
  const [wanted, setWanted] = useState(false);
  const path = `/orgs/${name ?? ""}`;
  const { data } = useQuery(OrgsService.method.getOrg, { path }, { enabled: name !== undefined, retry: false });
  const text = (
    <>
      {name === undefined ? (
        <span className="cut">{texts.orgs.choose}</span>
      ) : (
        <>
          <span className="unseen">{texts.orgs.current}</span>
          <bdi>{data?.displayName || name}</bdi>
        </>
      )}
      <span aria-hidden="true">▾</span>
    </>
  );
  const closed = (
    <button type="button" className="button quiet org-switch" aria-haspopup="listbox" onClick={() => setWanted(true)}>
      {text}
    </button>
  );
  if (!wanted) return closed;
  return (
    <Suspense fallback={closed}>
      <OrgChoices>{text}</OrgChoices>
    </Suspense>
  );
}
