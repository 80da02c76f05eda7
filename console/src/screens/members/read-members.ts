/** What a pasted line says about a member. */
interface PastedMember {
  readonly name: string;
  readonly displayName: string;
}

/**
 * Reads lines such as `alice, Alice Liddell`: a name and, after the first comma or tab, what people call the member. Names are sent as they
 * are, so that the service says what is wrong with them.
 */
export function readMembers(text: string): readonly PastedMember[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const [name = "", ...rest] = line.split(/[,\t]/);
    return { name: name.trim(), displayName: rest.join(",").trim() };
  });
}
