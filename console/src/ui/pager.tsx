import { Link } from "@tanstack/react-router";
import { texts } from "../texts/texts.ts";

interface PagerProps {
  /** The token of this page, from the URL; empty for the first. */
  readonly page: string;
  readonly nextPage: string;
  readonly shown: number;
  /** The number of all rows, where the service counts them. */
  readonly total: number | undefined;
}

/** Leads to other pages. Where the reader is, is in the URL, so the browser's way back leads to the page before. */
export function Pager({ page, nextPage, shown, total }: PagerProps) {
  // Where there is nothing, the screen says so.
  if (shown === 0 && page === "" && nextPage === "") return null;
  return (
    <nav className="pager" aria-label={texts.pager.label}>
      <span className="quiet-text">
        {total === undefined ? texts.pager.shown(shown) : texts.pager.shownOf(shown, total)}
      </span>
      {page === "" ? null : (
        <Link to="." search={(search) => ({ ...search, page: undefined })} className="button plain">
          {texts.pager.first}
        </Link>
      )}
      {nextPage === "" ? null : (
        <Link to="." search={(search) => ({ ...search, page: nextPage })} className="button plain">
          {texts.pager.next}
        </Link>
      )}
    </nav>
  );
}
