import { Popover } from "@base-ui/react/popover";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { AccessService } from "../../../gen/iam/v1alpha/access_pb.ts";
import { readProblem } from "../calls/read-problem.ts";
import { useSession } from "../app/use-session.ts";
import { nameOf, orgOf } from "../calls/paths.ts";
import { texts } from "../texts/texts.ts";
import { Loading } from "./notes.tsx";
import { PathLinks } from "./path-link.tsx";

interface Refusal {
  readonly permission: string;
  readonly resourcePath: string;
}

interface RefusedButtonProps extends Refusal {
  readonly className: string;
  readonly label: string | undefined;
  readonly children: ReactNode;
}

/** A button that would be refused: it says why, and who can help. */
export function RefusedButton({ className, label, permission, resourcePath, children }: RefusedButtonProps) {
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger className={className} aria-disabled="true" aria-label={label}>
        {children}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} collisionPadding={8} className="positioner">
          <Popover.Popup className="popover">
            <Popover.Title className="popover-title">{texts.refused.title}</Popover.Title>
            <Reason permission={permission} resourcePath={resourcePath} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Reason({ permission, resourcePath }: Refusal) {
  const { member } = useSession();
  const request = { subjectPath: member, permission, resourcePath };
  const { data, error } = useQuery(AccessService.method.explainAccess, request, { retry: false });
  return (
    <>
      <p>
        {texts.refused.needs} <code>{permission}</code> {texts.refused.on}{" "}
        <bdi>{nameOf(resourcePath) || texts.platform}</bdi>.
      </p>
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined || data.deniedBecause === "" ? null : <p>{data.deniedBecause}</p>}
      {data === undefined || data.rolePaths.length === 0 ? null : (
        <p>
          {texts.refused.role} <PathLinks paths={data.rolePaths.slice(0, 1)} />.
        </p>
      )}
      {data === undefined || data.granterPaths.length === 0 ? null : (
        <p>
          {texts.refused.helper} <PathLinks paths={data.granterPaths.slice(0, 3)} />.
        </p>
      )}
      <AskLink
        resourcePath={resourcePath}
        role={data?.rolePaths[0]}
        parent={data?.accessRequestParentPath ?? readProblem(error).askIn}
      />
      {error === null ? null : <p>{texts.refused.unknown}</p>}
    </>
  );
}

interface AskLinkProps {
  readonly resourcePath: string;
  readonly role: string | undefined;
  /** The org in which the service says that the person can ask, if it does. */
  readonly parent: string | undefined;
}

/** Leads to a request for the access that is missing, for members of the org, and for people of the platform where the org approves what they do. */
function AskLink({ resourcePath, role, parent }: AskLinkProps) {
  const { member } = useSession();
  const org = orgOf(resourcePath);
  if (org === "" || (org !== orgOf(member) && org !== parent)) return null;
  return (
    <p>
      <Link
        to="/orgs/$org/accessRequests"
        params={{ org: nameOf(org) }}
        search={{ create: true, resource: resourcePath, role }}
      >
        {texts.requests.ask}
      </Link>
    </p>
  );
}
