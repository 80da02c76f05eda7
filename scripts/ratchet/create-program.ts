import { ts } from "@ts-morph/common";

/** Returns a program of these files only, by their paths from the root. It knows what names refer to, and few types. */
export function createProgram(sources: ReadonlyMap<string, string>): ts.Program {
  // The compiler asks for absolute paths of what files import.
  const textOf = (path: string): string | undefined => sources.get(path.replace(/^\//, ""));
  const host: ts.CompilerHost = {
    getSourceFile: (path, options) => {
      const text = textOf(path);
      return text === undefined ? undefined : ts.createSourceFile(path, text, options);
    },
    getDefaultLibFileName: () => "lib.d.ts",
    writeFile: () => {},
    getCurrentDirectory: () => "/",
    getCanonicalFileName: (path) => path,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    fileExists: (path) => textOf(path) !== undefined,
    readFile: textOf,
  };
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    allowImportingTsExtensions: true,
    noEmit: true,
    noLib: true,
    types: [],
  };
  return ts.createProgram([...sources.keys()], options, host);
}
