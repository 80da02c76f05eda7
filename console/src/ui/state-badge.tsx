import type { DescEnum } from "@bufbuild/protobuf";
import { wordFor } from "../texts/state-names.ts";

/** A state such as ACTIVE, in words. The color only repeats the word. */
export function StateBadge({ of, value }: { readonly of: DescEnum; readonly value: number }) {
  return <span className={`badge ${of.value[value]?.name.toLowerCase() ?? ""}`}>{wordFor(of, value)}</span>;
}
