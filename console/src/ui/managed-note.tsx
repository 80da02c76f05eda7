import { Link } from "@tanstack/react-router";
import { managedTexts } from "../texts/managed-texts.ts";

/** Says that a list shows only what a SCIM source manages, and leads to all of it. Nothing without a source. */
export function ManagedNote({ source }: { readonly source: string | undefined }) {
  if (source === undefined) return null;
  return (
    <p className="note before">
      <span>
        {managedTexts.only} <bdi>{source}</bdi>.
      </span>
      <Link to="." search={(search) => ({ ...search, source: undefined, page: undefined })} className="button plain">
        {managedTexts.all}
      </Link>
    </p>
  );
}
