/** The media types of what a build of the console may have, by the ends of file names. */
const types: Readonly<Record<string, { readonly type: string; readonly isText: boolean }>> = {
  js: { type: "text/javascript; charset=utf-8", isText: true },
  css: { type: "text/css; charset=utf-8", isText: true },
  svg: { type: "image/svg+xml", isText: true },
  json: { type: "application/json", isText: true },
  woff2: { type: "font/woff2", isText: false },
  png: { type: "image/png", isText: false },
  webp: { type: "image/webp", isText: false },
  ico: { type: "image/x-icon", isText: false },
};

/** @throws Error for a file that would not be served. */
export function mediaTypeOf(file: string): { readonly type: string; readonly isText: boolean } {
  const end = file.slice(file.lastIndexOf(".") + 1);
  const known = Object.hasOwn(types, end) ? types[end] : undefined;
  if (known !== undefined) return known;
  throw new Error(
    `${file}: src/console/media-types.ts has no media type for .${end}, only for ${Object.keys(types).join(", ")}`,
  );
}
