import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { useDisplayNames } from "../calls/use-display-names.ts";
import { hasScreen } from "../app/screens-by-path.ts";

/** Leads to the screen of a resource, if there is one, and shows what people call the resource. */
export function PathLink({ path, name }: { readonly path: string; readonly name: string }) {
  const text = <bdi title={path}>{name}</bdi>;
  return hasScreen(path) ? <Link to={path}>{text}</Link> : text;
}

/** Several of them, with commas between. */
export function PathLinks({ paths }: { readonly paths: readonly string[] }) {
  const displayNameOf = useDisplayNames(paths);
  return paths.map((path, index) => (
    <Fragment key={path}>
      {index === 0 ? "" : ", "}
      <PathLink path={path} name={displayNameOf(path)} />
    </Fragment>
  ));
}
