import { Link, useLocation } from "@tanstack/react-router";
import { hasScreen } from "../app/screens-by-path.ts";
import { allProjects, nameOf, orgOf } from "../calls/paths.ts";
import { useDisplayNames } from "../calls/use-display-names.ts";
import { listTitles, trailTexts } from "../texts/trail-texts.ts";

/** Returns the paths of the screens between that of an org and one in it. The org is at the top of each screen anyway. */
function screensAbove(path: string): string[] {
  const org = orgOf(path);
  if (org === "") return [];
  const parts = path.slice(org.length + 1).split("/");
  const above = parts.slice(1).map((_, index) => [org, ...parts.slice(0, index + 1)].join("/"));
  return above.filter((each) => hasScreen(each) && nameOf(each) !== allProjects);
}

/** Whether a path ends with the name of a list. */
const isList = (path: string): boolean => path.split("/").length % 2 === 0;

/** Leads from a screen of an org to those above it. */
export function Trail() {
  const path = useLocation({ select: ({ pathname }) => pathname.replace(/\/$/, "") });
  const above = screensAbove(path);
  const displayNameOf = useDisplayNames(above.filter((each) => !isList(each)));
  if (above.length === 0) return null;
  return (
    <nav aria-label={trailTexts.label}>
      <ol className="trail">
        {above.map((each) => (
          <li key={each}>
            <Link to={each} activeOptions={{ exact: true }} className="quiet-text">
              {isList(each) ? (listTitles[nameOf(each)] ?? nameOf(each)) : <bdi>{displayNameOf(each)}</bdi>}
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}
