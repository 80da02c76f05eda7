import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/notes.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import type { Asked } from "./asked.ts";

interface FoundPathsProps {
  /** The name of the table, for those who do not see it. */
  readonly title: string;
  /** What is found, such as "Member". */
  readonly kind: string;
  /** What is said when nothing is found. */
  readonly none: string;
  readonly paths: readonly string[];
  /** The token of the next page; empty on the last one. */
  readonly nextPage: string;
  /** Returns the question whose answer says why a path was found. */
  readonly ask: (path: string) => Asked;
}

/** A page of who may do something or of where somebody may, each with a link to why. */
export function FoundPaths({ title, kind, none, paths, nextPage, ask }: FoundPathsProps) {
  const { page = "", asOf } = useSearch({ from: "/orgs/$org/access" });
  const { org } = useParams({ from: "/orgs/$org/access" });
  const nameOf = useDisplayNames(paths);
  const columns: readonly Column<string>[] = [
    { title: kind, cell: (path) => <PathLink path={path} name={nameOf(path)} /> },
    { title: texts.columns.path, wide: true, cell: (path) => <code>{path}</code> },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (path) => (
        <Link
          to="/orgs/$org/access"
          params={{ org }}
          search={{ ...ask(path), asOf }}
          aria-label={texts.why.whyName(nameOf(path))}
        >
          {texts.why.why}
        </Link>
      ),
    },
  ];
  return (
    <>
      {paths.length === 0 ? (
        <Empty title={none} />
      ) : (
        <DataTable label={title} columns={columns} rows={paths} keyOf={(path) => path} />
      )}
      <Pager page={page} nextPage={nextPage} shown={paths.length} total={undefined} />
    </>
  );
}
