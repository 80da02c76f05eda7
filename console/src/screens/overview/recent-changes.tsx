import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { type Change, ChangesService, Change_TypeSchema, Change_View } from "../../../../gen/iam/v1alpha/change_pb.ts";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { wordFor } from "../../texts/state-names.ts";
import { typeInWords } from "../../texts/type-in-words.ts";
import { texts } from "../../texts/texts.ts";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";

/** The latest entries of the change log of an org; nothing for people who may not read it. */
export function RecentChanges({ org }: { readonly org: string }) {
  const may = usePermissions(org, ["iam.changes.list"]).may("iam.changes.list") === true;
  if (!may) return null;
  return (
    <Section
      title={texts.overview.changes}
      actions={
        <Link to="/orgs/$org/changes" params={{ org: nameOf(org) }}>
          {texts.overview.allChanges}
        </Link>
      }
    >
      <ChangesOf parentPath={org} pageSize={12} />
    </Section>
  );
}

interface ChangesOfProps {
  /** An org or a customer; empty for the platform. */
  readonly parentPath: string;
  readonly pageSize: number;
}

/** The latest changes of an org, of a customer with its orgs, or of everything, for people who may read them. */
export function ChangesOf({ parentPath, pageSize }: ChangesOfProps) {
  const request = { parentPath, pageSize, view: Change_View.BASIC, filter: "type != READ" };
  const changes = useQuery(ChangesService.method.listChanges, request, { retry: false });
  const isOfOrg = orgOf(parentPath) !== "";
  return (
    <Answered of={changes}>
      {({ changes: rows }) =>
        rows.length === 0 ? (
          <Empty title={texts.overview.noChanges} />
        ) : (
          <ChangeList changes={rows} withOrgs={!isOfOrg} />
        )
      }
    </Answered>
  );
}

interface ChangeListProps {
  readonly changes: readonly Change[];
  /** Whether each says in which org it was. */
  readonly withOrgs: boolean;
}

function ChangeList({ changes, withOrgs }: ChangeListProps) {
  const displayNameOf = useDisplayNames(changes.map(({ actorPath }) => actorPath).filter(Boolean));
  return (
    <ol className="feed">
      {changes.map((change) => (
        <li key={`${change.revision}-${change.position}`}>
          <Time at={change.time} />
          <span>
            {change.actorPath === "" ? (
              texts.overview.service
            ) : (
              <PathLink path={change.actorPath} name={displayNameOf(change.actorPath)} />
            )}{" "}
            <span className="quiet-text">
              {wordFor(Change_TypeSchema, change.type).toLowerCase()} {typeInWords(change.resourceType)}
            </span>{" "}
            <PathLink path={change.resourcePath} name={nameOf(change.resourcePath)} />
            {withOrgs && change.orgPath !== "" && change.orgPath !== change.resourcePath ? (
              <>
                {" "}
                <span className="quiet-text">{texts.overview.in}</span>{" "}
                <PathLink path={change.orgPath} name={nameOf(change.orgPath)} />
              </>
            ) : null}
          </span>
        </li>
      ))}
    </ol>
  );
}
