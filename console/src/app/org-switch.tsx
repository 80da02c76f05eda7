import { useParams } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useOrg } from "../calls/use-org.ts";
import { texts } from "../texts/texts.ts";
import { useSession } from "./use-session.ts";

/** Loaded when somebody opens it: it would be a sixth of the first page. */
const OrgChoices = lazy(async () => ({ default: (await import("./org-choices.tsx")).OrgChoices }));

/** Shows the current org, and leads to another one. */
export function OrgSwitch() {
  const { org: name } = useParams({ strict: false });
  const [wanted, setWanted] = useState(false);
  const path = name === undefined ? "" : `/orgs/${name}`;
  const own = useSession().members.find(({ org }) => org.path === path)?.org;
  const displayName = useOrg(path).org?.displayName || own?.displayName || name;
  const text = (
    <>
      {name === undefined ? (
        <span className="cut">{texts.orgs.choose}</span>
      ) : (
        <>
          <span className="unseen">{texts.orgs.current}</span>
          <bdi>{displayName}</bdi>
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
