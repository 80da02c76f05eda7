import { scimTexts } from "../../texts/scim-texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { scimUrl } from "./scim-url.ts";

/** What a directory calls, to be copied. */
export function SourceUrl({ org }: { readonly org: string }) {
  const url = scimUrl(org);
  return (
    <>
      <code translate="no">{url}</code> <CopyButton text={url} label={scimTexts.copyUrl} />
    </>
  );
}
