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

interface WhatMayProps {
  readonly subject: string;
  readonly permission: string;
  readonly org: string;
}

/** The projects on which somebody holds a permission. */
export function WhatMay({ subject, permission, org }: WhatMayProps) {
  const { page = "" } = useSearch({ from: "/orgs/$org/access" });
  const request = { subjectPath: subject, permission, parentPath: org, pageSize: 100, pageToken: page };
  const resources = useQuery(AccessService.method.listResources, request, {
    retry: false,
    placeholderData: keepPreviousData,
  });
  return (
    <Section title={texts.why.where}>
      <Answered of={resources}>
        {({ resourcePaths, nextPageToken }) => (
          <>
            {resourcePaths.length === 0 ? (
              <Empty title={texts.why.nowhere} />
            ) : (
              <Resources paths={resourcePaths} subject={subject} permission={permission} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={resourcePaths.length} total={undefined} />
          </>
        )}
      </Answered>
    </Section>
  );
}

interface ResourcesProps {
  readonly paths: readonly string[];
  readonly subject: string;
  readonly permission: string;
}

function Resources({ paths, subject, permission }: ResourcesProps) {
  const nameOf = useDisplayNames(paths);
  const { org } = useParams({ from: "/orgs/$org/access" });
  const columns: readonly Column<string>[] = [
    { title: texts.kinds.project, cell: (path) => <PathLink path={path} name={nameOf(path)} /> },
    { title: texts.columns.path, wide: true, cell: (path) => <code>{path}</code> },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (path) => (
        <Link
          to="/orgs/$org/access"
          params={{ org }}
          search={{ subject, permission, resource: path }}
          aria-label={texts.why.whyName(nameOf(path))}
        >
          {texts.why.why}
        </Link>
      ),
    },
  ];
  return <DataTable label={texts.why.where} columns={columns} rows={paths} keyOf={(path) => path} />;
}
