// Addresses of e-mail, of which a strict subset of RFC 5321 is accepted: what every mail server and every library reads in the same way.
//
//   address = local "@" domain           at most 254 characters
//   local   = atom *("." atom)           at most 64 characters
//   atom    = 1*(letter / digit / one of !#$%&'*+-/=?^_`{|}~)
//   domain  = label 1*("." label)        at most 253 characters; the last label does not begin with a digit
//   label   = letters, digits and dashes, none at its ends, at most 63
//
// No quotes, comments, addresses of hosts in brackets, spaces, and nothing outside of ASCII: a domain with other characters is written in
// its form with `xn--`.
const maxLength = 254;
const maxLocalLength = 64;
const maxDomainLength = 253;
const maxLabelLength = 63;

const lettersAndDigits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const ofAtoms: ReadonlySet<string> = new Set(`${lettersAndDigits}!#$%&'*+-/=?^_\`{|}~`);
const ofLabels: ReadonlySet<string> = new Set(`${lettersAndDigits}-`);

/** Returns why a text is no address that is accepted; undefined for one that is. */
export function findEmailProblem(text: string): string | undefined {
  if (text.length > maxLength) return `it has more than ${maxLength} characters`;
  const at = text.indexOf("@");
  if (at < 0) return "it has no @";
  return findLocalProblem(text.slice(0, at)) ?? findDomainProblem(text.slice(at + 1));
}

function findLocalProblem(local: string): string | undefined {
  if (local.length > maxLocalLength) return `more than ${maxLocalLength} characters are before the @`;
  for (const atom of local.split(".")) {
    if (atom === "") return "before the @ are parts of one character or more, with one dot between two of them";
    const wrong = Array.from(atom).find((character) => !ofAtoms.has(character));
    if (wrong !== undefined) return `${JSON.stringify(wrong)} is not accepted before the @`;
  }
  return undefined;
}

function findDomainProblem(domain: string): string | undefined {
  if (domain.length > maxDomainLength) return `the domain has more than ${maxDomainLength} characters`;
  const labels = domain.split(".");
  if (labels.length < 2) return "the domain must have a dot, as example.com has";
  for (const label of labels) {
    if (label === "" || label.length > maxLabelLength)
      return `each part of the domain has 1 to ${maxLabelLength} characters`;
    const wrong = Array.from(label).find((character) => !ofLabels.has(character));
    if (wrong !== undefined) {
      return `${JSON.stringify(wrong)} is not accepted in the domain; one with other characters is written with xn--`;
    }
    if (label.startsWith("-") || label.endsWith("-")) return "no part of the domain begins or ends with a dash";
  }
  if (/^\d/.test(labels.at(-1) ?? "")) return "the last part of the domain does not begin with a digit";
  return undefined;
}

/** Returns the form in which addresses are compared. Nothing else is the same: not `a.b` and `ab`, nor `a+x` and `a`. */
export const foldEmail = (email: string): string => email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
