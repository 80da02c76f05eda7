// Certificate authorities, and what they issue for 127.0.0.1 and localhost.
import { execFileSync } from "node:child_process";
import { chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Issued {
  /** Files. */
  readonly certificate: string;
  readonly key: string;
  /** Both in PEM. */
  readonly text: string;
}

export interface Authority {
  /** In PEM. */
  readonly certificate: string;
  /** Writes a certificate and its key, for the owner of the folder alone. */
  issue(folder: string): Issued;
}

const openssl = (...args: readonly string[]): void => void execFileSync("openssl", args, { stdio: "ignore" });
const keyOptions = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];

/** @param folder where its key is. */
export function createAuthority(folder: string, name: string): Authority {
  const key = join(folder, `${name}.key`);
  const certificate = join(folder, `${name}.crt`);
  openssl("req", "-x509", ...keyOptions, "-subj", `/CN=${name}`, "-keyout", key, "-out", certificate);
  return {
    certificate: readFileSync(certificate, "utf8"),
    issue(target) {
      const files = { certificate: join(target, "server.crt"), key: join(target, "server.key") };
      const fresh = { certificate: join(folder, `${name}-issued.crt`), key: join(folder, `${name}-issued.key`) };
      const names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-addext", "basicConstraints=CA:FALSE"];
      const by = ["-CA", certificate, "-CAkey", key];
      openssl(
        "req",
        "-x509",
        ...keyOptions,
        ...by,
        ...names,
        "-subj",
        "/CN=localhost",
        "-keyout",
        fresh.key,
        "-out",
        fresh.certificate,
      );
      const { uid, gid } = statSync(target);
      for (const part of ["certificate", "key"] as const) {
        writeFileSync(files[part], readFileSync(fresh[part]), { mode: 0o600 });
        chownSync(files[part], uid, gid);
      }
      const text = [files.key, files.certificate].map((file) => readFileSync(file, "utf8")).join("");
      return { ...files, text };
    },
  };
}
