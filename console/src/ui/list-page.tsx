import type { ReactNode } from "react";
import type { Permissions } from "../calls/use-permissions.ts";
import { GuardedButton } from "./guarded-button.tsx";
import { type Answer, Answered, Empty } from "./notes.tsx";
import { Page } from "./page.tsx";
import { Pager } from "./pager.tsx";
import { SearchBox } from "./search-box.tsx";

/** What the screen of a collection says. */
interface ListWords {
  readonly title: string;
  readonly intro?: string;
  readonly search: string;
  readonly none: string;
  /** What to do first. */
  readonly noneHint: string;
  readonly noneFound: string;
  readonly create?: string;
}

/** A page of a list, as the service answers it. */
interface ListAnswer {
  readonly nextPageToken: string;
  readonly totalSize?: number | undefined;
}

interface ListPageProps<Found extends ListAnswer, Row> {
  readonly words: ListWords;
  /** Undefined where nothing is created, as are `permission` and `onCreate`. */
  readonly permissions?: Permissions;
  /** What the service requires to create one more. */
  readonly permission?: string | undefined;
  readonly onCreate?: (() => void) | undefined;
  /** What leads to other screens, before the button to create one more. */
  readonly links?: ReactNode;
  /** The words that the URL has, and the token of the page. */
  readonly search: { readonly q?: string | undefined; readonly page?: string | undefined };
  /** What narrows the list besides words. */
  readonly filters?: ReactNode;
  /** Whether something in `filters` does. */
  readonly narrowed?: boolean;
  /** What is said above the list, such as a new secret. */
  readonly notes?: ReactNode;
  readonly of: Answer<Found>;
  readonly rowsOf: (found: Found) => readonly Row[];
  readonly table: (rows: readonly Row[]) => ReactNode;
  /** The dialogs. */
  readonly children?: ReactNode;
}

/** The screen of a collection: it is searched and paged by the service, and somebody who may creates one more. */
export function ListPage<Found extends ListAnswer, Row>(props: ListPageProps<Found, Row>) {
  const {
    words,
    permissions,
    permission,
    onCreate,
    links,
    filters,
    narrowed = false,
    notes,
    of,
    rowsOf,
    table,
  } = props;
  const { q, page = "" } = props.search;
  const isFiltered = q !== undefined || narrowed;
  return (
    <Page
      title={words.title}
      intro={words.intro}
      actions={
        <>
          {links}
          {permissions === undefined || permission === undefined || onCreate === undefined ? null : (
            <GuardedButton kind="primary" permissions={permissions} permission={permission} onClick={onCreate}>
              {words.create}
            </GuardedButton>
          )}
        </>
      }
    >
      {notes}
      <div className="filters">
        <SearchBox label={words.search} value={q ?? ""} />
        {filters}
      </div>
      <Answered of={of}>
        {(found) => {
          const rows = rowsOf(found);
          return (
            <>
              {rows.length === 0 ? <NoRows words={words} isFiltered={isFiltered} /> : table(rows)}
              <Pager page={page} nextPage={found.nextPageToken} shown={rows.length} total={found.totalSize} />
            </>
          );
        }}
      </Answered>
      {props.children}
    </Page>
  );
}

function NoRows({ words, isFiltered }: { readonly words: ListWords; readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title={words.noneFound} />;
  return (
    <Empty title={words.none}>
      <p>{words.noneHint}</p>
    </Empty>
  );
}
