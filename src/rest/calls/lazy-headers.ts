import type { IncomingHttpHeaders } from "node:http";

/**
 * Headers that describe the message or its connection (RFC 9110, 7.6.1) and are irrelevant to a method, and the
 * credentials for a proxy.
 */
export const connectionHeaders: readonly string[] = [
  "connection",
  "content-encoding",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/**
 * Wraps the request headers of Node as fetch's `Headers`. Creates the real `Headers` object only when something other
 * than `get` and `has` is called, because it costs more than the rest of a small call.
 *
 * @param denied names of headers to omit, in lower case.
 */
export function createLazyHeaders(source: IncomingHttpHeaders, denied: ReadonlySet<string>): Headers {
  const headers = Object.create(prototype) as LazyHeaders;
  headers.source = source;
  headers.denied = denied;
  headers.made = undefined;
  return headers;
}

/**
 * Creates the headers or trailers of a response, as fetch's `Headers`. The real `Headers` object is created only when something
 * other than `get`, `has` and a simple `set` is called.
 */
export function createResponseHeaders(): Headers {
  const headers = Object.create(responsePrototype) as LazyHeaders;
  headers.source = {};
  headers.denied = nothing;
  headers.made = undefined;
  return headers;
}

/** Returns names, in lower case, and values, as iterating does. Those of `createResponseHeaders` are usually at hand. */
export function fieldsOf(headers: Headers): Iterable<readonly [string, string]> {
  const isUnmade = Object.getPrototypeOf(headers) === responsePrototype && (headers as LazyHeaders).made === undefined;
  return isUnmade ? Object.entries((headers as LazyHeaders).source as Record<string, string>) : headers;
}

interface LazyHeaders extends Headers {
  source: IncomingHttpHeaders;
  denied: ReadonlySet<string>;
  made: Headers | undefined;
}

/**
 * Inherits from Headers so that `instanceof` works. Overrides every member, because those of Headers throw when called on
 * any other object.
 */
const prototype = Object.create(Headers.prototype, {
  get: method(function (this: LazyHeaders, name: string): string | null {
    if (this.made !== undefined) return this.made.get(name);
    const key = name.toLowerCase();
    const value = isPseudo(key) || !Object.hasOwn(this.source, key) ? undefined : this.source[key];
    if (value === undefined || this.denied.has(key)) return null;
    return typeof value === "string" ? value : make(this).get(name);
  }),
  has: method(function (this: LazyHeaders, name: string): boolean {
    return this.get(name) !== null;
  }),
  append: method(function (this: LazyHeaders, name: string, value: string): void {
    make(this).append(name, value);
  }),
  set: method(function (this: LazyHeaders, name: string, value: string): void {
    make(this).set(name, value);
  }),
  delete: method(function (this: LazyHeaders, name: string): void {
    make(this).delete(name);
  }),
  getSetCookie: method(function (this: LazyHeaders): string[] {
    return make(this).getSetCookie();
  }),
  forEach: method(function (this: LazyHeaders, each: Parameters<Headers["forEach"]>[0], self?: unknown): void {
    make(this).forEach(each, self);
  }),
  keys: method(function (this: LazyHeaders) {
    return make(this).keys();
  }),
  values: method(function (this: LazyHeaders) {
    return make(this).values();
  }),
  entries: method(function (this: LazyHeaders) {
    return make(this).entries();
  }),
  [Symbol.iterator]: method(function (this: LazyHeaders) {
    return make(this).entries();
  }),
}) as object;

const nothing: ReadonlySet<string> = new Set();

const simpleName = /^[A-Za-z][A-Za-z0-9-]*$/;
/** Printable ASCII without spaces around it, which Headers would keep as it is. */
const simpleValue = /^[!-~](?:[ -~]*[!-~])?$/;

const responsePrototype = Object.create(prototype, {
  set: method(function (this: LazyHeaders, name: string, value: string): void {
    const isSimple =
      this.made === undefined && typeof value === "string" && simpleName.test(name) && simpleValue.test(value);
    if (isSimple) this.source[name.toLowerCase()] = value;
    else make(this).set(name, value);
  }),
}) as object;

function method(value: unknown): PropertyDescriptor {
  return { value, configurable: true, writable: true };
}

function make(headers: LazyHeaders): Headers {
  if (headers.made !== undefined) return headers.made;
  const made = (headers.made = new Headers());
  for (const [name, value] of Object.entries(headers.source)) {
    if (value === undefined || isPseudo(name) || headers.denied.has(name)) continue;
    for (const one of Array.isArray(value) ? value : [value]) made.append(name, one);
  }
  return made;
}

/** Checks for a pseudo-header, in which HTTP/2 carries the request line. */
function isPseudo(name: string): boolean {
  return name.startsWith(":");
}
