/** Reports whether a host is this machine: by its name, or by an address of its own, as in URLs or without brackets. */
export const isThisMachine = (host: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
