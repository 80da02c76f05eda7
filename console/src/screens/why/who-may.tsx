import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { AccessService } from "../../../../gen/iam/v1alpha/access_pb.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";

/** Everybody who holds a permission on a resource. */
export function WhoMay({ permission, resource }: { readonly permission: string; readonly resource: string }) {
  const { page = "" } = useSearch({ from: "/orgs/$org/access" });
  const request = { permission, resourcePath: resource, pageSize: 100, pageToken: page };
  const subjects = useQuery(AccessService.method.listSubjects, request, {
    retry: false,
    placeholderData: keepPreviousData,
  });
  return (
    <Section title={texts.why.who}>
      <Answered of={subjects}>
        {({ subjectPaths, nextPageToken }) => (
          <>
            {subjectPaths.length === 0 ? (
              <Empty title={texts.why.nobody} />
            ) : (
              <Subjects paths={subjectPaths} permission={permission} resource={resource} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={subjectPaths.length} total={undefined} />
          </>
        )}
      </Answered>
    </Section>
  );
}

interface SubjectsProps {
  readonly paths: readonly string[];
  readonly permission: string;
  readonly resource: string;
}

function Subjects({ paths, permission, resource }: SubjectsProps) {
  const nameOf = useDisplayNames(paths);
  const { org } = useParams({ from: "/orgs/$org/access" });
  const columns: readonly Column<string>[] = [
    { title: texts.kinds.member, cell: (path) => <PathLink path={path} name={nameOf(path)} /> },
    { title: texts.columns.path, wide: true, cell: (path) => <code>{path}</code> },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (path) => (
        <Link
          to="/orgs/$org/access"
          params={{ org }}
          search={{ subject: path, permission, resource }}
          aria-label={texts.why.whyName(nameOf(path))}
        >
          {texts.why.why}
        </Link>
      ),
    },
  ];
  return <DataTable label={texts.why.who} columns={columns} rows={paths} keyOf={(path) => path} />;
}
