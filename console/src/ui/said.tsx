import { Link } from "@tanstack/react-router";

interface SaidProps {
  readonly what: string;
  readonly name: string;
  /** Where what has the name is, if the notice leads there. */
  readonly path?: string | undefined;
}

/** A notice: what was done, and to what. */
export function Said({ what, name, path }: SaidProps) {
  const named = <bdi>{name}</bdi>;
  return (
    <>
      {what} {path === undefined ? named : <Link to={path}>{named}</Link>}.
    </>
  );
}
