/** One of several values as paths and programs write them, on a line of its own. */
export function CodeLine({ children }: { readonly children: string }) {
  return (
    <div>
      <code translate="no">{children}</code>
    </div>
  );
}
