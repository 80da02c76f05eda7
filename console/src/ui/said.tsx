/** A notice: what was done, and to what. */
export function Said({ what, name }: { readonly what: string; readonly name: string }) {
  return (
    <>
      {what} <bdi>{name}</bdi>.
    </>
  );
}
