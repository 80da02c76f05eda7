const mostShown = 20;

/** Returns a title and the first lines, or all if `verbose`; nothing if there are no lines. */
export function boundedList(title: string, lines: readonly string[], verbose: boolean): string[] {
  if (lines.length === 0) return [];
  const shown = verbose ? lines : lines.slice(0, mostShown);
  const more = lines.length - shown.length;
  return [
    title,
    ...shown.map((line) => `  ${line}`),
    ...(more > 0 ? [`  … and ${more} more; --verbose shows all`] : []),
  ];
}
