import { rowMenuTexts } from "../texts/row-menu-texts.ts";
import { resourceTexts } from "../texts/resource-texts.ts";
import { texts } from "../texts/texts.ts";
import { CopyButton } from "./copy-button.tsx";
import { Fact } from "./facts.tsx";

/** How programs name something: by its path, and by its id, which stays when it is renamed. */
export function PathFacts({ of: { path, id } }: { readonly of: { readonly path: string; readonly id: string } }) {
  return (
    <>
      <Fact title={texts.columns.path}>
        <code translate="no">{path}</code> <CopyButton text={path} label={rowMenuTexts.copyPath} />
      </Fact>
      <Fact title={resourceTexts.id}>
        <code translate="no">{id}</code> <CopyButton text={id} label={rowMenuTexts.copyId} />
      </Fact>
    </>
  );
}
