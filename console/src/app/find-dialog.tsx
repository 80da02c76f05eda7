import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FoundResource, SearchService } from "../../../gen/iam/v1alpha/search_pb.ts";
import { nameOf } from "../calls/paths.ts";
import { useTyped } from "../calls/use-typed.ts";
import { texts } from "../texts/texts.ts";
import { typeInWords } from "../texts/type-in-words.ts";
import { nearestScreen } from "./screens-by-path.ts";

interface FindDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Finds anything that the person may read, by the start of a name, an id, a path, or an API key of which something was pasted. */
export function FindDialog({ open, onClose }: FindDialogProps) {
  const [typed, settled, setTyped] = useTyped();
  const query = withoutSecret(settled);
  const options = { enabled: open && query !== "", retry: false, placeholderData: keepPreviousData };
  const { data } = useQuery(SearchService.method.searchResources, { parentPath: "orgs/-", query }, options);
  const results = query === "" ? [] : (data?.results ?? []);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog find">
          <Dialog.Title className="dialog-title">{texts.find.title}</Dialog.Title>
          <input
            type="search"
            className="input"
            aria-label={texts.find.hint}
            placeholder={texts.find.hint}
            value={typed}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setTyped(event.target.value)}
          />
          <p className="hint" role="status">
            {query === "" || data === undefined ? "" : texts.find.found(results.length)}
          </p>
          <ul className="lines">
            {results.map((found) => (
              <li key={found.path}>
                <Found found={found} onOpen={onClose} />
              </li>
            ))}
          </ul>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
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

/** How the secrets of API keys begin, and how much of them identifies a key to people. */
const keyStart = "tenantry_";
const prefixLength = keyStart.length + 12;

/** Returns what may be sent of a text: of an API key only its prefix, even if all of it was pasted. */
const withoutSecret = (text: string): string => (text.startsWith(keyStart) ? text.slice(0, prefixLength) : text);
