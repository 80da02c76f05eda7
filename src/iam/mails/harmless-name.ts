// Names that people chose, in mails: shown only where no mail program makes a link of them.

const maxNameLength = 80;

/**
 * What a mail program could show as a link: addresses of all kinds, whatever the letters of a domain; one with a space beside its dot,
 * which only looks like one; and phone numbers, of 7 digits or more.
 */
const linkLike =
  /[/\\@:]|www|\S[.\u3002]\S|[\p{L}\p{N}]\s?[.\u3002]\s?[\p{L}\p{N}]|\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd}){6}/iu;

/** Returns a name that people chose, on one line; undefined for one that is empty, or that a mail program could show as a link. */
export function harmlessName(name: string): string | undefined {
  // Line ends, other controls, and characters that set the direction of what follows.
  const line = name
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
  const short = Array.from(line).slice(0, maxNameLength).join("");
  // Some programs read letters, digits and dots of other forms as the plain ones.
  return short === "" || linkLike.test(short.normalize("NFKC")) ? undefined : short;
}
