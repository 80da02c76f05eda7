/** Returns a name for a member with an address: `bob-o-neil` for `Bob.O'Neil@example.com`. The service says if it is taken or not allowed. */
export function nameFromAddress(email: string): string {
  const [local = ""] = email.split("@");
  return local
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 64)
    .replace(/-$/, "");
}
