import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type FoundResource, SearchService } from "../../../gen/iam/v1alpha/search_pb.ts";
import { nameOf } from "../calls/paths.ts";
import { useTyped } from "../calls/use-typed.ts";
import { findTexts } from "../texts/find-texts.ts";
import { texts } from "../texts/texts.ts";
import { typeInWords } from "../texts/type-in-words.ts";
import { arrowKeys } from "./arrow-keys.ts";
import { findActions } from "./find-actions.ts";
import { findScreens } from "./org-screens.ts";
import { nearestScreen } from "./screens-by-path.ts";
import { withoutSecret } from "./without-secret.ts";

interface FindDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

/**
 * Finds what the person may read, by the start of a name, an id, a path, or an API key of which something was pasted; and the screens
 * of the org and what can be created there, by a word of their titles.
 */
export function FindDialog({ open, onClose }: FindDialogProps) {
  const [typed, settled, setTyped] = useTyped();
  const query = withoutSecret(settled);
  const { results, answered, isOfQuery } = useSearch(query, open && query !== "");
  const { org } = useParams({ strict: false });
  const screens = org === undefined ? [] : findScreens(typed);
  const actions = org === undefined ? [] : findActions(typed);
  const isTold = answered && (results.length > 0 || screens.length + actions.length === 0);
  // Enter in the field opens the first link. What the service has found is of the words of now once it has answered these.
  const isOfNow = screens.length + actions.length > 0 || (isOfQuery && withoutSecret(typed.trim()) === query);
  const onKeyDown = arrowKeys(typed.trim() !== "" && isOfNow);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog find" onKeyDown={onKeyDown}>
          <Dialog.Title className="dialog-title">{texts.find.title}</Dialog.Title>
          <input
            type="search"
            className="input"
            aria-label={texts.find.hint}
            aria-describedby="find-keys"
            placeholder={texts.find.hint}
            value={typed}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setTyped(event.target.value)}
          />
          {org === undefined || screens.length === 0 ? null : <Screens org={org} of={screens} onOpen={onClose} />}
          {org === undefined || actions.length === 0 ? null : <Actions org={org} of={actions} onOpen={onClose} />}
          <p className="hint" role="status">
            {isTold ? texts.find.found(results.length) : ""}
          </p>
          <ul className="lines">
            {results.map((found) => (
              <li key={found.path}>
                <Found found={found} onOpen={onClose} />
              </li>
            ))}
          </ul>
          <p id="find-keys" className="hint wide">
            {findTexts.keys}
          </p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface ScreensProps {
  readonly org: string;
  readonly of: ReturnType<typeof findScreens>;
  readonly onOpen: () => void;
}

function Screens({ org, of, onOpen }: ScreensProps) {
  return (
    <ul className="lines" aria-label={texts.find.screens}>
      {of.map(({ to, title }) => (
        <li key={to}>
          <Link to={to} params={{ org }} onClick={onOpen}>
            {title}
          </Link>
          <span className="quiet-text">{texts.find.screenOf(org)}</span>
        </li>
      ))}
    </ul>
  );
}

interface ActionsProps {
  readonly org: string;
  readonly of: ReturnType<typeof findActions>;
  readonly onOpen: () => void;
}

function Actions({ org, of, onOpen }: ActionsProps) {
  return (
    <ul className="lines" aria-label={findTexts.actions}>
      {of.map(({ to, search, title }) => (
        <li key={title}>
          <Link to={to} params={{ org }} search={search} onClick={onOpen}>
            {title}
          </Link>
          <span className="quiet-text">{findTexts.inOrg(org)}</span>
        </li>
      ))}
    </ul>
  );
}

interface Search {
  readonly results: readonly FoundResource[];
  /** Whether the service has said all that it finds. */
  readonly answered: boolean;
  /** Whether all of it is of this query, and not of the one before. */
  readonly isOfQuery: boolean;
}

/** Searches in all orgs, and by name in the org of the screen: over all orgs, the service finds what is in them by paths and ids only. */
function useSearch(query: string, enabled: boolean): Search {
  const { org } = useParams({ strict: false });
  const { searchResources } = SearchService.method;
  const options = { retry: false, placeholderData: keepPreviousData };
  const isInOrg = enabled && org !== undefined;
  const here = useQuery(searchResources, { parentPath: `orgs/${org ?? "-"}`, query }, { ...options, enabled: isInOrg });
  const everywhere = useQuery(searchResources, { parentPath: "orgs/-", query }, { ...options, enabled });
  const asked = [...(isInOrg ? [here] : []), ...(enabled ? [everywhere] : [])];
  const found = new Map(asked.flatMap(({ data }) => data?.results ?? []).map((each) => [each.path, each]));
  return {
    results: [...found.values()].toSorted((one, other) => one.match - other.match),
    answered: asked.some(({ data }) => data !== undefined) && asked.every(({ isPending }) => !isPending),
    isOfQuery: asked.every(({ isPending, isPlaceholderData }) => !isPending && !isPlaceholderData),
  };
}

function Found({ found, onOpen }: { readonly found: FoundResource; readonly onOpen: () => void }) {
  const { path, type, displayName } = found;
  const search = type === "ApiKey" ? { tab: "keys" } : {};
  return (
    <>
      <Link to={nearestScreen(path)} search={search} onClick={onOpen}>
        <bdi>{displayName || nameOf(path)}</bdi>
      </Link>
      <span className="quiet-text">
        {typeInWords(type)} <code>{path}</code>
      </span>
    </>
  );
}
