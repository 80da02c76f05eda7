import { Link } from "@tanstack/react-router";
import { type Change, Change_TypeSchema } from "../../../../gen/iam/v1alpha/change_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { wordFor } from "../../texts/state-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { typeInWords } from "../../texts/type-in-words.ts";
import { Differences } from "./differences.tsx";

interface ChangeTableProps {
  /** In whose log they are, such as `/orgs/acme`. */
  readonly org: string;
  readonly rows: readonly Change[];
}

export function ChangeTable({ org, rows }: ChangeTableProps) {
  const displayNameOf = useDisplayNames(rows.map(({ actorPath }) => actorPath).filter(Boolean));
  const columns: readonly Column<Change>[] = [
    {
      title: texts.columns.time,
      cell: ({ time, revision }) => (
        <Link to="/orgs/$org/changes" params={{ org: nameOf(org) }} search={{ revision }} title={revision}>
          <Time at={time} />
        </Link>
      ),
    },
    {
      title: texts.columns.who,
      cell: ({ actorPath, reason, onBehalfOf }) => (
        <>
          {actorPath === "" ? texts.overview.service : <PathLink path={actorPath} name={displayNameOf(actorPath)} />}
          {reason === "" ? null : (
            <span className="quiet-text">
              {" "}
              <bdi>{reason}</bdi>
            </span>
          )}
          {onBehalfOf === "" ? null : (
            <span className="quiet-text">
              {" "}
              {texts.changes.onBehalfOf} <bdi>{onBehalfOf}</bdi>
            </span>
          )}
        </>
      ),
    },
    {
      title: texts.columns.what,
      cell: (change) => (
        <>
          {wordFor(Change_TypeSchema, change.type)} {typeInWords(change.resourceType)}{" "}
          <PathLink path={change.resourcePath} name={nameOf(change.resourcePath)} />
          <Differences change={change} />
        </>
      ),
    },
  ];
  const keyOf = ({ revision, position }: Change): string => `${revision} ${position}`;
  return <DataTable label={texts.changes.title} columns={columns} rows={rows} keyOf={keyOf} />;
}
