import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { Quota } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { type QuantityKind, QuantityKindsService } from "../../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { quotaTexts } from "../../texts/quota-texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { UsageLink } from "../usage/usage-link.tsx";
import { HiddenLevels, LeftAmount, LevelUse } from "./level-use.tsx";
import { useLimitActions } from "./use-limit-actions.tsx";
import type { Levels } from "./use-levels.ts";

interface KindListProps {
  readonly title: string;
  readonly levels: Levels;
  readonly quota: Quota;
}

/** All kinds of Quantities, with what is used of each at each level. */
export function KindList({ title, levels, quota }: KindListProps) {
  const { q, page = "" } = useSearch({ strict: false });
  const request = { pageSize: 100, pageToken: page, filter: toFilter(q), orderBy: "display_name" };
  const kinds = useQuery(QuantityKindsService.method.listQuantityKinds, request, {
    placeholderData: keepPreviousData,
    retry: false,
  });
  const org = orgOf(levels.own.path);
  return (
    <Page
      kind={quotaTexts.levels[levels.own.kind]}
      title={title}
      intro={quotaTexts.intro}
      actions={
        <>
          <UsageLink path={levels.own.path} className="button plain" />
          {org === "" ? null : (
            <Link to="/orgs/$org/quotaRequests" params={{ org: nameOf(org) }} className="button plain">
              {quotaTexts.requests}
            </Link>
          )}
        </>
      }
    >
      <div className="filters">
        <SearchBox label={quotaTexts.search} value={q ?? ""} />
      </div>
      <Answered of={kinds}>
        {({ quantityKinds, nextPageToken }) => (
          <>
            {quantityKinds.length === 0 ? (
              <NoKinds isFiltered={q !== undefined} />
            ) : (
              <Kinds rows={quantityKinds} levels={levels} quota={quota} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={quantityKinds.length} total={undefined} />
          </>
        )}
      </Answered>
      <HiddenLevels levels={levels} />
    </Page>
  );
}

function NoKinds({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title={quotaTexts.noneFound} />;
  return (
    <Empty title={quotaTexts.noKinds}>
      <p>{quotaTexts.noKindsHint}</p>
    </Empty>
  );
}

interface KindsProps {
  readonly rows: readonly QuantityKind[];
  readonly levels: Levels;
  readonly quota: Quota;
}

const namedOf = ({ name, displayName, unit }: QuantityKind) => ({ name: displayName || name, unit });

function Kinds({ rows, levels, quota }: KindsProps) {
  const { buttons, dialogs } = useLimitActions(levels, quota);
  const { own, above } = levels;
  const columns: readonly Column<QuantityKind>[] = [
    {
      title: quotaTexts.kind,
      cell: ({ name, displayName }) =>
        own.kind === "project" ? (
          <bdi title={name}>{displayName || name}</bdi>
        ) : (
          <Link to="." search={{ kind: name }}>
            <bdi title={name}>{displayName || name}</bdi>
          </Link>
        ),
    },
    ...[own, ...above.filter(({ hidden }) => !hidden)].map((level, index): Column<QuantityKind> => ({
      title: quotaTexts.levels[level.kind],
      wide: index > 0,
      cell: (row) => <LevelUse level={level} kind={row.name} named={namedOf(row)} />,
    })),
    {
      title: quotaTexts.left,
      cell: (row) => <LeftAmount levels={levels} kind={row.name} named={namedOf(row)} />,
    },
    { title: quotaTexts.limit, numeric: true, cell: (row) => buttons(row.name, namedOf(row)) },
  ];
  return (
    <>
      <DataTable label={quotaTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />
      {dialogs}
    </>
  );
}
