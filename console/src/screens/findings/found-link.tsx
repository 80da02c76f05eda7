import { Link } from "@tanstack/react-router";
import { nearestScreen } from "../../app/screens-by-path.ts";
import { belowOrg, collectionOf, nameOf } from "../../calls/paths.ts";

/** Leads to what was found, or to where it is shown: the keys of a member, or the list in which a binding is. */
export function FoundLink({ path }: { readonly path: string }) {
  return (
    <Link to={nearestScreen(path)} search={searchFor(path)} title={path}>
      <bdi>{belowOrg(path)}</bdi>
    </Link>
  );
}

function searchFor(path: string): Readonly<Record<string, string>> {
  const collection = collectionOf(path);
  if (collection === "apiKeys") return { tab: "keys" };
  return collection === "roleBindings" ? { q: nameOf(path) } : {};
}
