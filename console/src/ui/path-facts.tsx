import { rowMenuTexts } from "../texts/row-menu-texts.ts";
import { resourceTexts } from "../texts/resource-texts.ts";
import { texts } from "../texts/texts.ts";
import { CopyButton } from "./copy-button.tsx";
import { Fact } from "./facts.tsx";
import type { Labels } from "./labels.ts";
import { LabelsFact } from "./labels-fact.tsx";

interface PathFactsProps {
  readonly of: { readonly path: string; readonly id: string; readonly labels: Labels };
}

/** What programs know something by: its path, its id, which stays when it is renamed, and its labels. */
export function PathFacts({ of }: PathFactsProps) {
  const { path, id } = of;
  return (
    <>
      <Fact title={texts.columns.path}>
        <code translate="no">{path}</code> <CopyButton text={path} label={rowMenuTexts.copyPath} />
      </Fact>
      <Fact title={resourceTexts.id}>
        <code translate="no">{id}</code> <CopyButton text={id} label={rowMenuTexts.copyId} />
      </Fact>
      <LabelsFact of={of} />
    </>
  );
}
